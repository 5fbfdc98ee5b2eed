import Foundation
import HearthBase
import HearthInference

/// Uploaded pictures that wait for their message.
final class PictureDesk: Sendable {
    /// The bounds of the waiting pictures.
    struct Bounds: Sendable {
        var count = 16
        var bytes = 128 << 20
        var lifetime: TimeInterval = 3600
    }

    private struct State {
        var pictures: [(id: String, image: ChatImage, until: Date)] = []
    }

    /// The most bytes of one upload.
    static let uploadLimit = 20 << 20

    private let bounds: Bounds
    private let time: TimeSource
    private let state = Locked(State())

    init(bounds: Bounds = Bounds(), time: TimeSource) {
        self.bounds = bounds
        self.time = time
    }

    /// Keeps a picture; the oldest ones leave when the bounds are reached.
    func add(_ image: ChatImage) -> UploadBody {
        let id = Claim.newToken()
        let now = time.now
        let (bounds, until) = (bounds, now.addingTimeInterval(bounds.lifetime))
        state.withLock { state in
            state.pictures.removeAll { $0.until <= now }
            state.pictures.append((id, image, until))
            while state.pictures.count > bounds.count
                || state.pictures.reduce(0, { $0 + $1.image.bytes.count }) > bounds.bytes
            {
                state.pictures.removeFirst()
            }
        }
        return UploadBody(
            id: id, width: image.header.width, height: image.header.height, type: image.mediaType,
            bytes: image.bytes.count)
    }

    /// The pictures with the given ids.
    /// - Throws: ``NativeFailure`` with `not-found`.
    func pictures(_ ids: [String]) throws -> [ChatImage] {
        guard ids.count <= bounds.count else { throw NativeFailure.bad("pictures", "at most \(bounds.count) ids") }
        let now = time.now
        return try ids.map { id in
            let found = state.withLock { state in state.pictures.first { $0.id == id && $0.until > now }?.image }
            guard let found else {
                throw NativeFailure(
                    404, "not-found", "the picture is no longer here", remedy: "Add it again.", field: "pictures")
            }
            return found
        }
    }

    func remove(_ ids: [String]) { state.withLock { state in state.pictures.removeAll { ids.contains($0.id) } } }
}
