import Foundation
import HearthBase
import HearthHTTP

/// Reads a bucket that is not public: signs each request to the bucket's server.
package struct SignedClient: HTTPClient {
    let base: any HTTPClient
    let access: BucketAccess
    let time: TimeSource

    package func execute(_ request: HTTPRequest) async throws -> HTTPResponse {
        let (own, other) = (access.endpoint, request.url)
        guard own.scheme == other.scheme, own.host() == other.host(), own.port == other.port else {
            return try await base.execute(request)
        }
        var request = request
        request.maximumRedirects = 0
        let signed = try access.signer.authorize(
            request, payloadHash: SHA256Digest(hashing: request.body ?? Data()), at: time.now)
        let response = try await base.execute(signed)
        // `rclone serve s3` answers a range with 200. No device reads here, so that only the bytes count.
        guard response.status == 200, response.headers["Content-Range"] != nil else { return response }
        return HTTPResponse(status: 206, headers: response.headers, url: response.url, body: response.body)
    }
}
