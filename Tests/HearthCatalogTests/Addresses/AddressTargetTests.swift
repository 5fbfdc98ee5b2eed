import Foundation
import HearthBase
import HearthCatalog
import HearthHTTP
import HearthTestSupport
import Testing

/// Compares the request targets of addresses with those of curl's own program.
@Suite(.timeLimit(.minutes(5)), .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")))
struct AddressTargetTests {
    /// The places at which publishers and servers write addresses.
    enum Placement: String, CaseIterable { case manifest, mirror, relative, redirect }

    /// The ends of the addresses.
    static let tails = [
        "a%2Fb.gguf", "a%2fb.gguf", "a b.gguf", "a%20b.gguf", "a%2Fb c.gguf", "a+b.gguf", "a%2Bb c.gguf", "a;b=1.gguf",
        "a%3Bb c.gguf", "%E9/w.gguf", "%E9/my model.gguf", "é.gguf", "%C3%A9.gguf", "%C3%A9 é.gguf", "日本/模型.gguf",
        "a[1].gguf", "a%5B1%5D{2}.gguf", "w.gguf#part", "w%23x.gguf#a b", "a%zz.gguf", "100%.gguf", "a%25b c.gguf",
        "w.gguf?sig=a%2Fb+c==&n=a b", "w.gguf?x=é&y=%C3%A9", "w.gguf?a[0]=1&b={c}|^`", "w.gguf?u=https://h/p?q;r",
        "x/a/./b/../c d.gguf", "x/a//b%2F%2Fc.gguf", "x/\"<>^`{|}é.gguf", "x/a:b@c,d!$&'()*=~.gguf",
    ]

    @Test func theServerIsAskedAsCurlAsks() async throws {
        let server = try FaultServer { Self.reply($0) }
        let sixth = try FaultServer(isIPv6: true) { Self.reply($0) }
        var cases: [Case] = []
        for placement in Placement.allCases {
            for (index, tail) in Self.tails.enumerated() {
                cases.append(Case(placement, tail, index, "http://127.0.0.1:\(server.port)"))
            }
        }
        for (index, host) in ["[::1]", "[0:0:0:0:0:0:0:1]", "[::0001]"].enumerated() {
            for placement in Placement.allCases where placement != .relative {
                cases.append(Case(placement, "a%2Fb c.gguf", 4, "http://\(host):\(sixth.port)", run: index))
            }
        }
        try await curl(cases)
        let client = CurlHTTPClient()
        for item in cases {
            var request = HTTPRequest(try item.url())
            request.headers["X-Case"] = "hearth-" + item.name
            _ = try await client.execute(request).body.collect(upTo: 100)
        }
        let requests = server.requests + sixth.requests
        func target(_ who: String, _ item: Case) -> String? {
            requests.last { $0.headers["X-Case"] == "\(who)-\(item.name)" }.map { Self.normal($0.target) }
        }
        #expect(cases.count >= 120)
        for item in cases {
            let expected = target("curl", item)
            #expect(expected != nil && target("hearth", item) == expected, "\(item.name) \(item.tail)")
        }
    }

    /// An address at one of the places.
    struct Case {
        let placement: Placement
        let tail: String
        let origin: String
        let name: String
        private let start: String

        init(_ placement: Placement, _ tail: String, _ index: Int, _ origin: String, run: Int = 0) {
            (self.placement, self.tail, self.origin) = (placement, tail, origin)
            name = "\(placement)-\(index)-\(run)"
            start = "\(origin)/go/\(placement)/\(index)"
        }

        /// What curl is given: the address itself, or one that redirects to it. A raw space it refuses as an argument.
        var argument: String {
            switch placement {
            case .manifest, .mirror: "\(origin)/d/\(tail)".replacing(" ", with: "%20")
            case .relative, .redirect: start
            }
        }

        /// What Hearth asks for: the address as the catalog reads it, or one that redirects to it.
        func url() throws -> URL {
            let address = "\(origin)/d/\(tail)"
            switch placement {
            case .manifest: return try listed(["downloadUrl": .string(address)])[0]
            case .mirror:
                let mirrors = JSONValue.array([.string(address)])
                return try listed(["downloadUrl": "w.gguf", "mirrors": mirrors])[1]
            case .relative: return try listed(["downloadUrl": .string(tail)])[0]
            case .redirect: return try #require(URL(string: start))
            }
        }

        private func listed(_ fields: JSONMembers) throws -> [URL] {
            var entry: JSONMembers = [
                "id": "a", "version": "1.0.0", "filename": "m-v1.0.0-q4.gguf", "sizeBytes": .integer(10),
                "sha256": .string(ManifestFixtures.digest),
            ]
            for (name, value) in fields { entry[name] = value }
            let manifest = JSONValue.object(["models": .array([.object(entry)])]).data
            let catalog = try Catalog(manifest: manifest, url: try #require(URL(string: start)))
            return try #require(catalog.releases.first).file.locations
        }
    }

    /// Redirects `/go/relative/N` and `/go/redirect/N` to the end of that number. curl gets spaces as `%20` here too: in
    /// a query it would make them plus signs.
    @Sendable private static func reply(_ request: RecordedRequest) -> Reply {
        let parts = request.target.split(separator: "/")
        guard parts.count == 3, parts[0] == "go", let index = Int(parts[2]), tails.indices.contains(index) else {
            return .text("here")
        }
        let isCurl = request.headers["X-Case"]?.hasPrefix("curl") == true
        let tail = isCurl ? tails[index].replacing(" ", with: "%20") : tails[index]
        return .redirect(parts[1] == "relative" ? tail : "/r/\(tail)")
    }

    /// Lets curl ask for all addresses, one after the other.
    private func curl(_ cases: [Case]) async throws {
        let folder = try TemporaryFolder()
        let blocks = cases.map { item in
            let address = item.argument.replacing("\"", with: "\\\"")
            return """
                globoff
                silent
                location
                noproxy = "*"
                max-time = 60
                output = "/dev/null"
                header = "X-Case: curl-\(item.name)"
                url = "\(address)"
                """
        }
        let list = try folder.write("curl.txt", Data(blocks.joined(separator: "\nnext\n").utf8))
        let status = try await blocking {
            let process = Process()
            process.executableURL = URL(filePath: "/usr/bin/curl")
            process.arguments = ["--disable", "--config", list.string]
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus
        }
        #expect(status == 0)
    }

    /// One form for both: triplets in capitals, and every byte that RFC 3986 does not allow there encoded once.
    private static func normal(_ target: String) -> String {
        let bytes = Array(target.utf8)
        let query = bytes.firstIndex(of: UInt8(ascii: "?")) ?? bytes.endIndex
        var result = ""
        var index = 0
        while index < bytes.count {
            let digits = String(decoding: bytes[(index + 1)...].prefix(2), as: UTF8.self)
            let scalar = Unicode.Scalar(bytes[index])
            if scalar == "%", digits.utf8.count == 2, digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) {
                result += "%" + digits.uppercased()
                index += 3
                continue
            }
            let marks = "-._~!$&'()*+,;=:@/" + (index >= query ? "?" : "")
            let isPlain = scalar.isASCII && (Character(scalar).isLetter || Character(scalar).isNumber)
            if isPlain || marks.unicodeScalars.contains(scalar) {
                result.unicodeScalars.append(scalar)
            } else {
                let hex = String(bytes[index], radix: 16, uppercase: true)
                result += "%" + (hex.count < 2 ? "0" : "") + hex
            }
            index += 1
        }
        return result
    }

    /// Addresses that curl refuses too, and those with user names, backslashes or control characters.
    @Test(arguments: [
        "https://u:p@h.example/w.gguf", "https://u@h.example/w.gguf", "//u@h.example/w.gguf",
        "https://h.example\\w.gguf", "a\\b.gguf",
        "a\tb.gguf", "a\nb.gguf", "a\u{0}b.gguf", "https://h.example/a\u{7F}b.gguf", "https://[::1/w.gguf",
        "https://h.example:99999/w.gguf", "https://h.example:x/w.gguf", "https://h ost/w.gguf", "https:///w.gguf",
        "ftp://h.example/w.gguf", "http://h.example/w.gguf", "",
    ])
    func othersAreRefused(_ address: String) async throws {
        for field in ["downloadUrl", "mirrors"] {
            let value: JSONValue = field == "mirrors" ? .array([.string(address)]) : .string(address)
            let text = String(decoding: value.data, as: UTF8.self)
            let manifest = ManifestFixtures.manifest([field: text])
            await #expect {
                let catalog = try ManifestFixtures.catalog(manifest)
                // A port that does not exist is found by the client.
                let url = try #require(catalog.releases.first?.file.locations.last)
                _ = try await CurlHTTPClient().execute(HTTPRequest(url, totalTimeout: .seconds(5)))
            } throws: { error in
                (error as? CatalogError)?.code == .manifestInvalid || (error as? HTTPError)?.code == .unsupportedURL
            }
        }
    }
}
