import Foundation
import HearthBase
import HearthHTTP

/// Reads a bucket that is not public: signs each request to the bucket's server.
package struct SignedClient: HTTPClient {
    private let base: any HTTPClient
    private let access: BucketAccess
    private let time: TimeSource

    /// Signs with the key of `access`; requests to other servers are sent as they are.
    package init(_ base: any HTTPClient, access: BucketAccess, time: TimeSource) {
        self.base = base
        self.access = access
        self.time = time
    }

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (own, other) = (access.endpoint, request.url)
        guard own.scheme == other.scheme, own.host() == other.host(), own.port == other.port else {
            return try await base.execute(request)
        }
        var request = request
        request.maximumRedirects = 0
        let signed = try access.signer.authorize(
            request, payloadHash: .digest(SHA256Digest(hashing: request.body ?? Data())), at: time.now)
        let response = try await base.execute(signed)
        // `rclone serve s3` answers a range with 200. No device reads here, so that only the bytes count.
        guard response.status == 200, response.headers["Content-Range"] != nil else { return response }
        return HTTPResponse(status: 206, headers: response.headers, url: response.url, body: response.body)
    }
}
