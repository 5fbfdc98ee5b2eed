import Foundation
import HearthBase
import Testing

@testable import HearthHTTP

/// AWS's published examples of Signature Version 4, in the folder that `HEARTH_SIGV4_VECTORS` names: one folder for each
/// example, with the request, its canonical form and its signature.
@Suite(.enabled(if: SigV4Vectors.folder != nil)) struct SigV4VectorTests {
    @Test func everyExampleIsSignedAsPublished() throws {
        let folder = try #require(SigV4Vectors.folder)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        for name in names {
            let vector = try SigV4Vectors(folder.appendingPathComponent(name))
            let stamp = SigV4.Stamp(vector.date)
            for kind in ["header", "query"] {
                let canonical = kind == "header" ? vector.header(stamp) : vector.query(stamp)
                #expect(try canonical.text == vector.text("\(kind)-canonical-request.txt"), "\(name), \(kind)")
                #expect(
                    try vector.signer.stringToSign(canonical, stamp) == vector.text("\(kind)-string-to-sign.txt"),
                    "\(name), \(kind)")
                #expect(
                    try vector.signer.signature(of: canonical, stamp) == vector.text("\(kind)-signature.txt"),
                    "\(name), \(kind)")
            }
        }
        #expect(names.count == 38)
        print("\(names.count) of AWS's examples are signed as published, by header and by query")
    }
}

/// One example.
struct SigV4Vectors {
    static let folder = ProcessInfo.processInfo.environment["HEARTH_SIGV4_VECTORS"].map { URL(fileURLWithPath: $0) }

    private struct Context: Decodable {
        struct Credentials: Decodable {
            let access_key_id: String
            let secret_access_key: String
            let token: String?
        }

        let credentials: Credentials
        let expiration_in_seconds: Int
        let normalize: Bool
        let region: String
        let service: String
        let sign_body: Bool
        let timestamp: String
        let omit_session_token: Bool?
    }

    private let folder: URL
    private let context: Context
    private let method: String
    private let path: String
    private let given: String
    private let headers: HTTPHeaders
    private let payload: SHA256Digest
    let signer: SigV4
    let date: Date

    init(_ folder: URL) throws {
        self.folder = folder
        context = try JSONDecoder().decode(
            Context.self, from: Data(contentsOf: folder.appendingPathComponent("context.json")))
        date = try Date(context.timestamp, strategy: .iso8601)
        var signer = SigV4(
            accessKey: context.credentials.access_key_id,
            secretKey: try #require(Secret(context.credentials.secret_access_key)), region: context.region,
            service: context.service)
        signer.normalizesPath = context.normalize
        self.signer = signer
        let text = try String(contentsOf: folder.appendingPathComponent("request.txt"), encoding: .utf8)
        let halves = text.components(separatedBy: "\n\n")
        var lines = halves[0].split(separator: "\n")
        let words = lines.removeFirst().split(separator: " ")
        method = String(words[0])
        // A target with a space has more than three words.
        let target = words.dropFirst().dropLast().joined(separator: " ")
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        given = parts.count > 1 ? String(parts[1]) : ""
        var fields: [(String, String)] = []
        for line in lines {
            if line.first == " ", let last = fields.popLast() {
                fields.append((last.0, last.1 + "\n" + line))
            } else {
                let field = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                fields.append((String(field[0]), String(field[1])))
            }
        }
        var headers = HTTPHeaders()
        for field in fields { headers.append(field.0, field.1) }
        self.headers = headers
        let body = halves.count > 1 ? halves[1] : ""
        payload = SHA256Digest(hashing: Data((context.sign_body ? body : "").utf8))
    }

    func text(_ name: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(name), encoding: .utf8)
    }

    private var token: String? { context.omit_session_token == true ? nil : context.credentials.token }

    func header(_ stamp: SigV4.Stamp) -> CanonicalRequest {
        var headers = headers
        headers["X-Amz-Date"] = stamp.time
        if context.sign_body { headers["x-amz-content-sha256"] = payload.hex }
        if let token { headers["X-Amz-Security-Token"] = token }
        return CanonicalRequest(
            method: method, path: path, query: given, headers: headers, payload: payload,
            normalizesPath: context.normalize)
    }

    func query(_ stamp: SigV4.Stamp) -> CanonicalRequest {
        let names = Set(headers.fields.map { $0.name.lowercased() }).sorted()
        var items = [
            "X-Amz-Algorithm=\(SigV4.Stamp.algorithm)",
            "X-Amz-Credential=" + PercentText.encoded("\(signer.accessKey)/\(signer.scope(stamp))"),
            "X-Amz-Date=\(stamp.time)", "X-Amz-Expires=\(context.expiration_in_seconds)",
            "X-Amz-SignedHeaders=" + PercentText.encoded(names.joined(separator: ";")),
        ]
        if let token { items.append("X-Amz-Security-Token=" + PercentText.encoded(token)) }
        if !given.isEmpty { items.insert(given, at: 0) }
        return CanonicalRequest(
            method: method, path: path, query: items.joined(separator: "&"), headers: headers, payload: payload,
            normalizesPath: context.normalize)
    }
}
