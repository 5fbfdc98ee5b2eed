import Foundation

@testable import HearthHTTP
@testable import HearthServer

/// Reads the head of a request, as bytes on the wire: lines of `name: value` after `METHOD TARGET VERSION`. What the
/// checks accept keeps the bounds that the listener relies on.
func fuzzServerRequest(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let words = (lines.first ?? "").split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard words.count == 3 else { return }
    var headers = HTTPHeaders()
    for line in lines.dropFirst() {
        guard let colon = line.firstIndex(of: ":") else { continue }
        let value = line[line.index(after: colon)...]
        headers.append(String(line[..<colon]), String(value.first == " " ? value.dropFirst() : value))
    }
    let limits = ListenerLimits()
    let target = ServerTarget(words[1])
    precondition(target.path.utf8.first.map { $0 == UInt8(ascii: "/") } ?? true, "a path does not begin with a slash")
    precondition(!target.path.unicodeScalars.contains { $0.value < 0x20 }, "a path has a control character")
    precondition(target.query.count <= 256, "a query has no bound")
    _ = ServerReply.takesGzip(headers.joined("Accept-Encoding"))
    do {
        let framing = try RequestFraming(
            method: words[0], target: words[1], version: words[2], headers: headers, limits: limits)
        let names = headers.fields.map { $0.name.lowercased() }
        precondition(
            !(names.contains("content-length") && names.contains("transfer-encoding")), "two lengths are accepted")
        precondition(names.filter { $0 == "content-length" }.count <= 1, "two lengths are accepted")
        precondition((framing.declaredLength ?? 0) <= limits.bodyBytes, "a body is larger than the limit")
    } catch {
        precondition((400...501).contains(error.reply(limits).status), "a refusal has no status")
    }
    var rules = RequestGuard.Rules()
    rules.user = 1
    let request = ServerRequest(
        method: words[0], target: words[1], headers: headers, peer: .network(host: "127.0.0.1"))
    // Without a key and a session no client is the owner.
    let caller = try? RequestGuard(rules: rules, keys: AccessKeys()).caller(of: request, need: .nothing)
    precondition(caller.map { !$0.scopes.contains(.admin) } ?? true, "a stranger is the owner")
}
