import Foundation
import HearthHTTP
import HearthTestSupport
import Testing

/// One row of the table: something that goes wrong with a transfer, and what has to come of it.
///
/// Places are counted in the whole file, so that a row means the same however the file is cut into requests.
struct Fault: Sendable {
    /// Which requests the fault meets; all others are answered properly.
    enum Aim: Sendable, Hashable {
        case every
        /// Those that ask for this byte.
        case byte(UInt64)
        /// Those that come after a first one was cut at this byte: the fault befalls a transfer that is under way.
        case afterCut(at: UInt64)
    }

    /// Where the file is.
    enum Origin: Sendable, Hashable {
        case server
        /// The port is closed.
        case closedPort
        /// The name leads nowhere.
        case unknownName
        /// `https` is spoken to a server that does not.
        case withoutTLS
        /// `https` is spoken to a server that never answers.
        case silentTLS
        /// `https` is spoken to a server whose certificate may be trusted, at a path that has the file or leads away.
        case https(TLSServer.Certificate, isTrusted: Bool, path: String)
    }

    typealias Provider = CountingProvider.Kind

    enum Ending: Sendable, Hashable {
        /// The whole file, with the right digest.
        case whole
        /// This stable code.
        case fails(String)
    }

    /// What the next start finds after a failure.
    enum Kept: Sendable, Hashable {
        /// Every byte that came: the next start asks for the others only.
        case everything
        /// None: the next start begins at the first byte.
        case nothing
        /// Every byte that came and lies before this one.
        case before(UInt64)
        /// Every byte but these.
        case allBut(Range<UInt64>)
    }

    /// What goes wrong, in words.
    let name: String
    /// What comes of it, in words.
    let does: String
    var ending: Ending
    var aim = Aim.every
    /// The byte of the part file at which the disk is full.
    var fullAt: UInt64?
    /// Another file that may come as a whole, too, where nothing tells which is meant.
    var other: Content?
    /// Whether the digests of parts of 32 KiB are known beforehand.
    var hasIndex = false
    /// Who renews addresses, if somebody does.
    var provider: Provider?
    /// How many requests it meets before it is over.
    var times = Int.max
    var origin = Origin.server
    /// Whether a second, proper place is named.
    var hasMirror = false
    /// Whether the proper place is the preferred one.
    var isMirrorFirst = false
    /// What is wrong with the disk.
    var disk: (@Sendable (FaultyFileSystem) -> Void)?
    /// Whether the digest is known beforehand.
    var hasDigest = true
    /// The bytes that are taken a second time.
    var again: ClosedRange<UInt64> = 0...0
    /// The same where other pieces are on their way, too; `nil` where that makes no difference.
    var againInPieces: ClosedRange<UInt64>?
    /// How often the provider is asked.
    var addresses: ClosedRange<Int>?
    /// The requests it takes when the file is fetched as one piece; `nil` where that is a matter of chance.
    var requests: Int?
    var kept = Kept.everything
    /// How long the transfer waits in all, on its clock.
    var waits: ClosedRange<Double>?
    /// The longest silence of a server that is waited for.
    var silenceLimit = Duration.seconds(60)
    /// The ways to cut the file that the fault makes sense with.
    var shapes = Shape.allCases
    /// Spoils an answer.
    let reply: @Sendable (Visit) -> Reply
}

extension Fault {
    /// A row of the parts that every row has; the others are set by ``with(_:)``.
    init(
        _ name: String, _ does: String, _ ending: Ending, aim: Aim = .every, times: Int = .max,
        reply: @escaping @Sendable (Visit) -> Reply = { $0.proper }
    ) {
        self.name = name
        self.does = does
        self.ending = ending
        self.aim = aim
        self.times = times
        self.reply = reply
    }

    func with(_ change: (inout Fault) -> Void) -> Fault {
        var copy = self
        change(&copy)
        return copy
    }

    /// The code as the documentation shows it.
    var code: String {
        switch ending {
        case .whole: "–"
        case .fails(let code): "`\(code)`"
        }
    }
}

/// A row in one of its shapes: what a test is called with.
struct FaultCase: Sendable, CustomTestStringConvertible {
    let fault: Fault
    let shape: Shape

    var testDescription: String { "\(fault.name) (\(shape.rawValue))" }

    static func all(_ faults: [Fault]) -> [FaultCase] {
        faults.flatMap { fault in fault.shapes.map { FaultCase(fault: fault, shape: $0) } }
    }
}
