import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

@testable import HearthCatalog
@testable import HearthDelivery
@testable import HearthStore
@testable import HearthTransfer

/// Answers with whatever it is told, and remembers what it was asked.
final class ScriptedOrigin: HTTPClient {
    struct Answer: Sendable {
        var status = 200
        var headers = HTTPHeaders()
        var body = ""
        var url: String?
        var failure: (any Error)?

        static func manifest(
            _ version: String = "1.0.0", serial: Int? = nil, control: String? = nil, tag: String? = nil,
            modified: String? = nil, extra: String = ""
        ) -> Answer {
            var answer = Answer()
            let number = serial.map { #""serial": \#($0),"# } ?? ""
            answer.body = #"""
                {"schemaVersion": 1, \#(number) \#(extra) "models": [{"id": "m", "filename": "m-v\#(version)-q4.gguf",
                  "sizeBytes": 1, "downloadUrl": "files/m.gguf"}]}
                """#
            answer.headers["Cache-Control"] = control
            answer.headers["ETag"] = tag
            answer.headers["Last-Modified"] = modified
            return answer
        }

        static func status(_ status: Int, headers: HTTPHeaders = [:]) -> Answer {
            Answer(status: status, headers: headers)
        }

        static let offline = Answer(failure: HTTPError(.cannotConnect, "nobody answers"))
        static let portal = Answer(headers: ["Content-Type": "text/html"], body: "<p>Log in")
    }

    private let state: Locked<(answer: Answer, requests: [HTTPRequest])>

    init(_ answer: Answer) { state = Locked((answer, [])) }

    var requests: [HTTPRequest] { state.withLock { $0.requests } }

    func answer(_ answer: Answer) { state.withLock { $0.answer = answer } }

    func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        if let failure = answer.failure { throw failure }
        return HTTPResponse(
            status: answer.status, headers: answer.headers, url: answer.url.flatMap(URL.init) ?? request.url,
            body: HTTPBody(Array(answer.body.utf8)))
    }
}

/// An origin's source in a home of its own, on a clock that a test moves.
struct SourceLab {
    let folder: TemporaryFolder
    let clock = ManualClock()
    let http: ScriptedOrigin
    let url: URL
    var fileSystem: any FileSystem = LocalFileSystem()

    init(_ answer: ScriptedOrigin.Answer = .manifest()) throws {
        folder = try TemporaryFolder()
        http = ScriptedOrigin(answer)
        url = try #require(URL(string: "https://me:secret@h.example/models.json?token=hidden"))
    }

    var catalogs: Path { folder.path("home/catalogs") }

    var origin: Origin { Origin(name: "test", manifestURL: url) }

    func source(_ url: URL? = nil) -> OriginSource {
        OriginSource(
            Origin(name: origin.name, manifestURL: url ?? self.url), family: nil, folder: catalogs,
            fetcher: CatalogFetcher(http: http, fileSystem: fileSystem), fileSystem: fileSystem, time: clock.time)
    }

    func listing(_ policy: CachePolicy = .asPublished) async throws -> CatalogListing {
        try await source().listing(policy)
    }

    /// The place of the copy.
    var place: Path { CatalogCache(folder: catalogs, fileSystem: LocalFileSystem()).place(of: origin) }
    var record: Path { place.appending("record.json") }

    func version(_ listing: CatalogListing) -> String? { listing.catalog.releases.first?.identity.version.name }
}
