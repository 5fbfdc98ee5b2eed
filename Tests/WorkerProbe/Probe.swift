import CProcess
import Foundation
import HearthBase
import HearthWorkers

/// A worker of the tests of worker processes.
///
/// ```
/// HearthWorkerProbe free
/// HearthWorkerProbe confined [readable PATH]… [descriptor NUMBER]… [writable FOLDER]… [device PATH]…
/// ```
/// It sets the limits of its command line, confines itself, and reports the limits that hold in the first frame. Then it
/// does what each frame names, see ``Deeds``, and answers with one frame. It ends with the stream, with status 0.
@main struct Probe {
    static func main() {
        var words = Array(CommandLine.arguments.dropFirst())
        guard let limits = WorkerLimits(takenFrom: &words), let mode = words.first else { _exit(64) }
        do {
            try limits.apply()
            var held = Confinement.Held()
            if mode == "confined" { held = confine(Array(words.dropFirst())) }
            let channel = FrameChannel(descriptor: WorkerProcess.channelDescriptor)
            try endWithParent(channel)
            try channel.send(Array("\(held.rawValue)".utf8))
            while let body = try channel.receive() {
                let words = String(decoding: body, as: UTF8.self).split(separator: "\n").map(String.init)
                try channel.send(Array(Deeds.perform(words).utf8))
            }
            _exit(0)
        } catch {
            Deeds.say("\(error)")
            _exit(1)
        }
    }

    private static func confine(_ words: [String]) -> Confinement.Held {
        func values(_ kind: String) -> [String] {
            zip(words, words.dropFirst()).filter { $0.0 == kind }.map(\.1)
        }
        return HearthWorkers.confine(
            readable: values("readable").map { Path($0) }, descriptors: values("descriptor").compactMap { Int32($0) },
            writable: values("writable").map { Path($0) }, devices: values("device").map { Path($0) })
    }
}
