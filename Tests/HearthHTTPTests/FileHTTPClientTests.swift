import Foundation
import HearthBase
import HearthHTTP
import HearthTestSupport
import Testing

struct FileHTTPClientTests {
    let folder: TemporaryFolder
    let file: Path
    let content = Content.pattern(offset: 5, count: 1_300_000).bytes
    let client = DefaultHTTPClient()

    init() throws {
        folder = try TemporaryFolder()
        file = try folder.write("some model.gguf", content)
    }

    @Test func aFileIsAnAnswer() async throws {
        let response = try await client.execute(HTTPRequest(file.url))
        #expect(response.status == 200)
        #expect(response.contentLength == 1_300_000)
        #expect(response.headers["ETag"]?.hasPrefix("\"") == true)
        #expect(try await response.body.collect(upTo: 2_000_000) == content)
    }

    @Test func aHeadHasNoBody() async throws {
        let response = try await client.execute(HTTPRequest(file.url, method: "HEAD"))
        #expect(response.contentLength == 1_300_000)
        #expect(try await response.body.collect(upTo: 0).isEmpty)
    }

    @Test(arguments: [
        ("bytes=0-0", 206, 0..<1), ("bytes=1299999-", 206, 1_299_999..<1_300_000),
        ("bytes=-3", 206, 1_299_997..<1_300_000),
        ("bytes=10-99999999", 206, 10..<1_300_000), ("bytes=1300000-", 416, 0..<0), ("bytes=5-1", 200, 0..<1_300_000),
        ("bytes=0-1,5-6", 200, 0..<1_300_000), ("lines=1-2", 200, 0..<1_300_000),
    ])
    func rangesAreServed(header: String, status: Int, range: Range<Int>) async throws {
        let response = try await client.execute(HTTPRequest(file.url, headers: ["Range": header]))
        #expect(response.status == status)
        #expect(try await response.body.collect(upTo: 2_000_000) == content[range])
        if status == 206 {
            #expect(
                response.headers["Content-Range"] == "bytes \(range.lowerBound)-\(range.upperBound - 1)/1300000")
        }
        if status == 416 { #expect(response.headers["Content-Range"] == "bytes */1300000") }
    }

    @Test func aChangedFileIsSentWhole() async throws {
        let tag = try #require(try await client.execute(HTTPRequest(file.url)).headers["ETag"])
        let headers: HTTPHeaders = ["Range": "bytes=5-", "If-Range": tag]
        #expect(try await client.execute(HTTPRequest(file.url, headers: headers)).status == 206)
        #expect(try await client.execute(HTTPRequest(file.url, headers: ["If-None-Match": tag])).status == 304)
        try folder.write("some model.gguf", Data("other".utf8))
        #expect(try await client.execute(HTTPRequest(file.url, headers: headers)).status == 200)
    }

    @Test func whatIsMissingIs404AndAFolderIs403() async throws {
        #expect(try await client.execute(HTTPRequest(folder.path("none").url)).status == 404)
        #expect(try await client.execute(HTTPRequest(folder.path.url)).status == 403)
    }

    @Test(arguments: ["file://elsewhere/etc/hosts", "file:///a%00b"])
    func otherMachinesFilesAreRefused(text: String) async throws {
        let url = try #require(URL(string: text))
        await #expect { _ = try await client.execute(HTTPRequest(url)) } throws: {
            ($0 as? HTTPError)?.code == .unsupportedURL
        }
    }

    @Test func sizesAndMethodsAreChecked() async throws {
        await #expect { _ = try await client.execute(HTTPRequest(file.url, maximumBodySize: 10)) } throws: {
            ($0 as? HTTPError)?.code == .tooLarge
        }
        await #expect { _ = try await client.execute(HTTPRequest(file.url, method: "PUT")) } throws: {
            ($0 as? HTTPError)?.code == .badRequest
        }
    }

    @Test func aFileThatShrinksIsNotShortened() async throws {
        let response = try await client.execute(HTTPRequest(file.url))
        let fileSystem = LocalFileSystem()
        try fileSystem.truncate(fileSystem.open(file, .readWrite), to: 600_000)
        await #expect { _ = try await response.body.collect(upTo: 2_000_000) } throws: {
            ($0 as? HTTPError)?.code == .connectionLost
        }
    }

    @Test func whatMayNotBeReadIs403AndBehindAFileThereIsNothing() async throws {
        let disk = FaultyFileSystem()
        disk.fail(call: 1, of: .openExisting, errno: EACCES)
        #expect(try await FileHTTPClient(fileSystem: disk).execute(HTTPRequest(file.url)).status == 403)
        #expect(try await client.execute(HTTPRequest(file.appending("inner").url)).status == 404)
    }

    /// Nobody asks four times for what cannot be there.
    @Test func aNameTooLongAndLinksInACircleAre404() async throws {
        let long = folder.path(String(repeating: "a", count: 300))
        #expect(try await client.execute(HTTPRequest(long.url)).status == 404)
        let circle = folder.path("circle")
        try LocalFileSystem().makeLink(at: circle, to: "circle")
        #expect(try await client.execute(HTTPRequest(circle.url)).status == 404)
        #expect(try await client.execute(HTTPRequest(circle.appending("models.json").url)).status == 404)
    }

    @Test(arguments: [EIO, ESTALE, ETIMEDOUT, ENOSPC])
    func aDiskThatFailsIsAConnectionThatBroke(number: Int32) async throws {
        func expectLoss(_ error: HTTPError?) {
            #expect(error?.code == .connectionLost)
            #expect(error?.disposition == .tryLater)
            #expect((error?.underlying as? FileError)?.context.found == "errno \(number)")
        }
        let disk = FaultyFileSystem()
        let client = FileHTTPClient(fileSystem: disk)
        disk.fail(call: 1, of: .openExisting, errno: number)
        expectLoss(await #expect(throws: HTTPError.self) { _ = try await client.execute(HTTPRequest(file.url)) })
        disk.fail(call: 2, of: .read, errno: number)
        let response = try await client.execute(HTTPRequest(file.url))
        expectLoss(await #expect(throws: HTTPError.self) { _ = try await response.body.collect(upTo: 2_000_000) })
    }

    @Test func anEmptyFileHasAnEmptyBody() async throws {
        let empty = try folder.write("empty", Data())
        let response = try await client.execute(HTTPRequest(empty.url))
        #expect(response.status == 200)
        #expect(response.contentLength == 0)
        #expect(try await response.body.collect(upTo: 0).isEmpty)
    }
}
