#if Llama
import CLlama
import CLlamaShim
import HearthBase
import HearthInference

/// Encodes pictures for a model. Owns the weights of the projector's file, and the most recently encoded pictures.
///
/// Unchecked because it owns a C handle: any thread may cut pictures into parts, but only the thread that owns the
/// model may encode and compute them.
final class Projector: @unchecked Sendable {
    private let raw: OpaquePointer
    // The projector reads the model's vocabulary until it is freed.
    private let weights: ModelWeights
    private let limits = ImageLimits()
    /// The parts of pictures by size.
    private let cuts = Locked<[PixelSize: PictureParts]>([:])
    private var cache: PictureCache<EncodedPicture>
    /// The picture whose parts are being encoded.
    private var opened: (digest: SHA256Digest, parts: PictureParts)?
    /// Whether the tokens of a part attend to each other in both directions, so that one call must compute all of
    /// them.
    let looksBothWays: Bool
    /// Whether positions have sections for height and width, so that a picture has more tokens than positions.
    let hasGridPositions: Bool

    /// The number of encoding threads, which never changes.
    let threadCount: Int

    private struct PixelSize: Hashable {
        let width: Int
        let height: Int
    }

    /// Opens a projector.
    /// - Parameter cacheBytes: the most bytes of encoded pictures.
    /// - Throws: `cannot-load-model`.
    init(path: Path, weights: ModelWeights, configuration: LlamaConfiguration, cacheBytes: Int) throws {
        try ModelFile.check(path, as: .projector)
        _ = LlamaLog.shared.takeProblems()
        var options = hearth_vision_options()
        threadCount = configuration.resolvedThreadCount
        options.threads = Int32(clamping: threadCount)
        options.gpu = configuration.resolvedGPULayers != 0 && LlamaFacts.hasGPU
        options.minimum_tokens = Int32(clamping: max(0, configuration.imageTokens.minimum ?? 0))
        options.maximum_tokens = Int32(clamping: max(0, configuration.imageTokens.maximum ?? 0))
        var reason: UnsafeMutablePointer<CChar>?
        guard let raw = hearth_vision_open(path.string, weights.model, &options, &reason) else {
            throw ModelFile.failure(path, LoadFailure.reason(reason, else: "it is no projector of this model"))
        }
        guard !hearth_vision_depends_on_place(raw) else {
            hearth_vision_free(raw)
            throw ModelFile.failure(
                path, "its pictures depend on their place in the prompt, which is not supported")
        }
        self.raw = raw
        self.weights = weights
        looksBothWays = hearth_vision_looks_both_ways(raw)
        hasGridPositions = hearth_vision_has_grid_positions(raw)
        cache = PictureCache(limit: cacheBytes)
        Handles.take(.projector)
    }

    deinit {
        hearth_vision_free(raw)
        Handles.give(.projector)
    }

    /// Cuts a picture into the tokens that frame it and its parts, without decompressing it.
    func parts(of image: ChatImage) throws -> PictureParts {
        let shown = limits.shown(width: image.header.width, height: image.header.height)
        let size = PixelSize(width: shown.width, height: shown.height)
        if let known = cuts.withLock({ $0[size] }) { return known }
        guard let blank = hearth_picture_blank(Self.size(shown)) else {
            throw ImageHeader.unreadable("no memory is left")
        }
        let parts = try cut(Pixels(blank))
        cuts.withLock { known in
            // The screenshots of a device have few sizes, so more than 256 are unusual.
            if known.count >= 256 { known.removeAll() }
            known[size] = parts
        }
        return parts
    }

    /// The parts of a picture in a prompt.
    func promptParts(of image: ChatImage) throws -> [PromptPart] {
        try parts(of: image).parts.enumerated().map { index, part in
            switch part {
            case .text(let tokens): .tokens(tokens)
            case .picture(let tokens, let positions):
                .picture(
                    PlacedPicture(image, part: index, tokens: tokens, positions: positions, projector: self))
            }
        }
    }

    /// The vectors of a part of a picture, from the cache or encoded in this call.
    ///
    /// The encoding of one part cannot be interrupted; a cancelled request asks for no further part.
    /// - Throws: `cannot-read-picture`, `generation-failed`.
    func encoded(_ image: ChatImage, part: Int) throws -> (vectors: [Float], isNew: Bool) {
        var picture = cache.value(of: image.digest) ?? EncodedPicture()
        if let known = picture.vectors[part] { return (known, false) }
        let pieces = try open(image)
        guard pieces.parts.indices.contains(part), case .picture(let count, _) = pieces.parts[part] else {
            throw ImageHeader.unreadable("it is cut into other parts than expected")
        }
        let vectors = try encode(pieces, part, count: count)
        picture.vectors[part] = vectors
        cache.insert(picture, bytes: picture.bytes, of: image.digest)
        // Pixels need much memory. They are kept only until the last part, because parts are encoded in order.
        if part == pieces.lastPicture { dropPixels() }
        return (vectors, true)
    }

    /// Limits the bytes of encoded pictures; the least recently used are dropped first.
    /// - Returns: whether one was dropped.
    func keep(atMost bytes: Int) -> Bool {
        let count = cache.count
        cache.limit(to: bytes)
        return cache.count < count
    }

    /// Whether the pixels of a picture are kept for its next part.
    var holdsPixels: Bool { opened != nil }

    /// Drops the pixels; the next part reads the picture again.
    func dropPixels() { opened = nil }

    /// Computes a part of an encoded picture at a position of a sequence.
    /// - Returns: the status of `llama_decode`; -1 if the part is not a part of a picture.
    func decode(
        _ vectors: [Float], of image: ChatImage, part: Int, in context: OpaquePointer, position: Int, sequence: Int
    ) -> Int32 {
        // The picture was read before; without it the status reports the failure.
        guard let parts = try? parts(of: image) else { return -1 }
        return vectors.withUnsafeBufferPointer { vectors in
            CallWatch.shared.during(.picture) {
                hearth_piece_decode(
                    raw, context, parts.raw, part, vectors.baseAddress, Int32(position), Int32(sequence),
                    Int32(clamping: llama_n_batch(context)))
            }
        }
    }

    /// A picture with its pixels, cut into parts.
    private func open(_ image: ChatImage) throws -> PictureParts {
        if let opened, opened.digest == image.digest { return opened.parts }
        let shown = limits.shown(width: image.header.width, height: image.header.height)
        let parts = try cut(try read(image, shown))
        guard try parts.parts == self.parts(of: image).parts else {
            throw ImageHeader.unreadable("it is cut into other parts than expected")
        }
        opened = (image.digest, parts)
        return parts
    }

    private func read(_ image: ChatImage, _ shown: (width: Int, height: Int)) throws -> Pixels {
        var reason: UnsafeMutablePointer<CChar>?
        let expected = Self.size(image.header.storedSize)
        guard
            let picture = hearth_picture_read(
                image.bytes, image.bytes.count, expected, Self.size(shown), Int32(image.header.orientation), &reason
            )
        else { throw ImageHeader.unreadable(LoadFailure.reason(reason, else: "its pixels cannot be read")) }
        return Pixels(picture)
    }

    private func cut(_ pixels: borrowing Pixels) throws -> PictureParts {
        var reason: UnsafeMutablePointer<CChar>?
        guard let pieces = CallWatch.shared.during(.picture, { hearth_pieces_cut(raw, pixels.raw, &reason) }) else {
            throw ImageHeader.unreadable(LoadFailure.reason(reason, else: "it cannot be cut into parts"))
        }
        return PictureParts(pieces)
    }

    private func encode(_ pieces: PictureParts, _ index: Int, count: Int) throws -> [Float] {
        var reason: UnsafeMutablePointer<CChar>?
        var vectors = [Float](repeating: 0, count: count * Int(hearth_vision_width(raw)))
        let isEncoded = CallWatch.shared.during(.picture) {
            hearth_piece_encode(raw, pieces.raw, index, &vectors, vectors.count, &reason)
        }
        guard isEncoded else {
            throw LLMError(
                .generateFailed,
                "the picture cannot be encoded: \(LoadFailure.reason(reason, else: "the engine failed"))",
                context: ErrorContext(remedy: "Try again, or with a smaller picture."))
        }
        return vectors
    }

    private static func size(_ size: (width: Int, height: Int)) -> hearth_size {
        hearth_size(width: UInt32(clamping: size.width), height: UInt32(clamping: size.height))
    }

}

/// Owns the pixels of a picture, or its size alone.
private struct Pixels: ~Copyable {
    let raw: OpaquePointer

    /// Takes ownership of the handle.
    init(_ raw: OpaquePointer) {
        self.raw = raw
        Handles.take(.bitmap)
    }

    deinit {
        hearth_picture_free(raw)
        Handles.give(.bitmap)
    }
}

/// The vectors of a picture's encoded parts.
struct EncodedPicture: Sendable {
    /// The vectors by part.
    var vectors: [Int: [Float]] = [:]

    var bytes: Int { vectors.values.reduce(0) { $0 + $1.count * MemoryLayout<Float>.stride } }
}
#endif
