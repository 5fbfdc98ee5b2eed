import Foundation
import HearthAssistant
import HearthHTTP
import HearthInference

// What it costs to turn the bytes of tokens into events: UTF-8 assembly, stop strings and the thinking splitter together;
// the bytes of a cloud's answer into server-sent events; and the search for action blocks in an answer's text.
// Prints one line of JSON; scripts/bench/streaming.py sets it beside its bars. Best of several rounds each, because
// the machine has other work.

/// Four parts prose, one part each of other scripts and emoji: about what multilingual answers look like.
let phrase = Array(
    "The quick brown fox jumps over the lazy dog, and then it rests for a while. Обычный текст. 普通的文字。 👩‍👩‍👧 ok\n".utf8)

func text(_ count: Int, thinking: Bool) -> [UInt8] {
    var bytes: [UInt8] = thinking ? Array("<think>\n".utf8) : []
    while bytes.count < count { bytes += phrase }
    return bytes
}

/// Seconds for reading the bytes in pieces.
func seconds(_ bytes: [UInt8], piece: Int, stops: [String]) -> Double {
    var reader = AnswerReader(stopStrings: stops)
    var total = 0
    let clock = ContinuousClock()
    let elapsed = clock.measure {
        bytes.withUnsafeBytes { buffer in
            var start = 0
            while start < buffer.count {
                let end = min(start + piece, buffer.count)
                reader.append(UnsafeRawBufferPointer(rebasing: buffer[start..<end])) { event in
                    switch event {
                    case .text(let text), .thinking(let text): total += text.utf8.count
                    default: break
                    }
                }
                start = end
            }
        }
        reader.finish { _ in }
    }
    precondition(total > 0)
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}

let eventCount = 40_000

/// Seconds for parsing server-sent events.
func parsing(_ pieces: [[UInt8]]) -> Double {
    var parser = ServerSentEventParser()
    var total = 0
    let elapsed = ContinuousClock().measure {
        for piece in pieces { total += (try? parser.append(piece).count) ?? 0 }
    }
    precondition(total == eventCount)
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}

/// Seconds for separating action blocks from text.
func scanning(_ pieces: [String]) -> Double {
    var scanner = BlockScanner(tags: ActionTag.order)
    var total = 0
    let elapsed = ContinuousClock().measure {
        for piece in pieces { total += scanner.append(piece).utf8.count }
        let end = scanner.finish()
        total += end.text.utf8.count + end.blocks.count
    }
    precondition(total > 0)
    return Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) * 1e-18
}

/// The text cut at the next character after each number of bytes.
func cut(_ text: String, every count: Int) -> [String] {
    var pieces: [String] = []
    var start = text.startIndex
    while start < text.endIndex {
        var end = text.utf8.index(start, offsetBy: count, limitedBy: text.endIndex) ?? text.endIndex
        while end < text.endIndex, end.samePosition(in: text.unicodeScalars) == nil {
            end = text.utf8.index(after: end)
        }
        pieces.append(String(text[start..<end]))
        start = end
    }
    return pieces
}

func best(_ rounds: Int, _ body: () -> Double) -> Double { (0..<rounds).map { _ in body() }.min() ?? 0 }

var results: [String: Double] = [:]
for (name, thinking, stops) in [
    ("text", false, []), ("thinking", true, []), ("stops", false, ["\n\nUser:", "<|im_end|>"]),
] as [(String, Bool, [String])] {
    let large = text(8 << 20, thinking: thinking)
    results["\(name)-bulk-MBps"] =
        Double(large.count) / best(15) { seconds(large, piece: 4096, stops: stops) } / 1e6
    let tokens = text(1 << 20, thinking: thinking)
    results["\(name)-token-ns"] =
        best(15) { seconds(tokens, piece: 4, stops: stops) } / Double((tokens.count + 3) / 4) * 1e9
    // The same number of bytes as one long answer and as many short ones, in turns.
    let short = Array(tokens.prefix(1024))
    var inLong = Double.infinity
    var inShort = Double.infinity
    for _ in 0..<15 {
        inLong = min(inLong, seconds(tokens, piece: 4, stops: stops) / Double(tokens.count))
        let all = (0..<1024).reduce(0) { sum, _ in sum + seconds(short, piece: 4, stops: stops) }
        inShort = min(inShort, all / Double(1024 * short.count))
    }
    results["\(name)-long-to-short"] = inLong / inShort
}
// Events of 200 bytes, as they come from a connection.
let event = Array(("data: " + String(repeating: "x", count: 192) + "\n\n").utf8)
let stream = (0..<eventCount).flatMap { _ in event }
let pieces = stride(from: 0, to: stream.count, by: 16 << 10).map {
    Array(stream[$0..<min(stream.count, $0 + (16 << 10))])
}
results["sse-bulk-MBps"] = Double(stream.count) / best(15) { parsing(pieces) } / 1e6

// Answers without blocks, with a block in every 2 KiB, and with many brackets that begin none.
let block = "\n[NOTE_ACTION:{\"action\":\"create\",\"title\":\"a [b] {c}\",\"body\":\"d \\\"e\\\" f\"}]\n"
let prose = String(decoding: text(2 << 10, thinking: false), as: UTF8.self)
for (name, part) in [
    ("plain", prose), ("blocks", prose + block), ("brackets", "see [1], [NOTE] and [link](page)\n- [ ] x"),
] {
    let answer = String(repeating: part, count: (4 << 20) / part.utf8.count)
    let pieces = cut(answer, every: 4096)
    results["actions-\(name)-bulk-MBps"] = Double(answer.utf8.count) / best(15) { scanning(pieces) } / 1e6
}
let short = cut(String(repeating: prose + block, count: 256), every: 4)
results["actions-token-ns"] = best(15) { scanning(short) } / Double(short.count) * 1e9

let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys]
print(String(decoding: try encoder.encode(results), as: UTF8.self))
