import Foundation

/// One parser of bytes from outside, by the name given in `HEARTH_FUZZ`.
///
/// A target may refuse its input with a typed error; it must not trap, hang or hand back what breaks its own rules.
private let targets: [String: @Sendable (Data) -> Void] = [
    "version": fuzzVersion,
    "path-component": fuzzPathComponent,
    "relative-path": fuzzRelativePath,
    "manifest": fuzzManifest,
    "model-reference": fuzzModelReference,
    "address": fuzzAddress,
    "written-name": fuzzWrittenName,
    "file-name": fuzzFileName,
    "chunk-index": fuzzChunkIndex,
    "gguf": fuzzGGUF,
    "safetensors": fuzzSafetensors,
    "model-configuration": fuzzModelConfiguration,
    "archive": fuzzArchive,
    "journal": fuzzJournal,
    "plan": fuzzPlan,
    "claim": fuzzClaim,
    "response": fuzzResponse,
    "glob": fuzzGlob,
    "hub": fuzzHub,
    "picture": fuzzPicture,
    "onnx": fuzzONNX,
    "tiff": fuzzTIFF,
    "webp": fuzzWebP,
    "classifier": fuzzClassifier,
    "action-blocks": fuzzActionBlocks,
    "event-stream": fuzzEventStream,
    "json-list": fuzzJSONList,
    "frame": fuzzFrame,
    "api-request": fuzzAPIRequest,
    "server-request": fuzzServerRequest,
    "native-request": fuzzNativeRequest,
    "calendar": fuzzCalendar,
    "recurrence": fuzzRecurrence,
    "contact": fuzzContact,
    "trust-metadata": fuzzTrustMetadata,
    "trust-update": fuzzTrustUpdate,
    "trust-key": fuzzTrustKey,
    "worker-message": fuzzWorkerMessage,
    "document": fuzzDocument,
    "tokenizer": fuzzTokenizer,
    "sentence-piece": fuzzSentencePiece,
]

private let target: @Sendable (Data) -> Void = {
    let name = ProcessInfo.processInfo.environment["HEARTH_FUZZ"] ?? ""
    guard let target = targets[name] else {
        FileHandle.standardError.write(
            Data("HEARTH_FUZZ has to name one of: \(targets.keys.sorted().joined(separator: " "))\n".utf8))
        exit(64)
    }
    return target
}()

/// What libFuzzer calls with every input it makes up.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    target(start.map { Data(bytes: $0, count: count) } ?? Data())
    return 0
}
