import Foundation
import Hearth
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer
import Testing

/// The sentences are agreed, to the letter.
@Suite struct ModelLibraryErrorTests {
    @Test func theSentencesAreTheAgreedOnes() {
        #expect(ModelLibraryError.downloadInProgress.errorDescription == "A download is already in progress.")
        #expect(
            ModelLibraryError.insufficientMemory(required: 8_000_000_000).errorDescription
                == "This model requires 8 GB RAM. Your device may not support it.")
        #expect(
            ModelLibraryError.insufficientStorage(required: 2_400_000_000).errorDescription
                == "Not enough storage. 2.4 GB required.")
        #expect(
            ModelLibraryError.networkError("the connection broke").errorDescription
                == "Network error: the connection broke")
        #expect(ModelLibraryError.modelNotFound("Lupus Diary").errorDescription == "Model not found: Lupus Diary")
    }

    @Test(arguments: [
        (1, "1 GB"), (1_000_000_000, "1 GB"), (1_000_000_001, "2 GB"), (UInt64.max, "18446744074 GB"),
    ])
    func memoryIsRoundedUp(bytes: UInt64, text: String) {
        #expect(ModelLibraryError.insufficientMemory(required: bytes).message == "This model requires \(text) RAM")
    }

    @Test(arguments: [
        (0, "0.1 GB"), (1, "0.1 GB"), (1_500_000_000, "1.5 GB"), (1_500_000_001, "1.6 GB"),
        (UInt64.max, "18446744073.8 GB"),
    ])
    func storageIsRoundedUp(bytes: UInt64, text: String) {
        let sentence = ModelLibraryError.insufficientStorage(required: bytes).sentence
        #expect(sentence == "Not enough storage. \(text) required.")
    }

    private static func needs(_ bytes: String?) -> ErrorContext { ErrorContext(expected: bytes) }

    /// What each error means for somebody who wants the model; its code, and its sentence where it is a new one.
    private static let meanings: [(any HearthFailure, code: String, sentence: String?)] = [
        (
            DeliveryError(.notEnoughMemory, "too large", context: needs("8500000000 bytes")), "not-enough-memory",
            "This model requires 9 GB RAM. Your device may not support it."
        ),
        (
            DeliveryError(.notEnoughMemory, "too large"), "not-enough-memory",
            "This model requires 5 GB RAM. Your device may not support it."
        ),
        (
            DeliveryError(.insufficientStorage, "full", context: needs("3000000000 bytes")), "insufficient-storage",
            "Not enough storage. 3.0 GB required."
        ),
        (
            DeliveryError(.insufficientStorage, "full", context: needs("a lot")), "insufficient-storage",
            "Not enough storage. 0.2 GB required."
        ),
        (FileError(errno: ENOSPC, doing: "write", path: Path("/x")), "insufficient-storage", nil),
        (NetworkError(.offline, "there is no network"), "network-error", "Network error: there is no network"),
        (NetworkError(.meteredNetwork, "Wi-Fi required"), "metered-network", "Wi-Fi required"),
        (HTTPError(.connectionLost, "the connection broke"), "network-error", "Network error: the connection broke"),
        (HTTPError(.cannotResolve, "no such host"), "network-error", "Network error: no such host"),
        (TransferError(.missing, "404"), "model-not-found", "Model not found: diary"),
        (TransferError(.serverBusy, "503"), "network-error", "Network error: 503"),
        (TransferError(.accessDenied, "403"), "network-error", "Network error: 403"),
        (TransferError(.webPage, "a page came"), "network-error", "Network error: a page came"),
        (TransferError(.checksumMismatch, "Download corrupted"), "checksum-mismatch", "Download corrupted"),
        (CatalogError(.unknownFamily, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.unknownVersion, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.unknownVariant, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.repositoryMissing, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.revisionMissing, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.fileMissing, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.noKnownModel, "none"), "model-not-found", "Model not found: diary"),
        (CatalogError(.repositoryGated, "ask first"), "repository-gated", "ask first"),
        (CatalogError(.originUnreachable, "no answer"), "network-error", "Network error: no answer"),
        (CatalogError(.manifestInvalid, "bad field"), "manifest-invalid", "bad field"),
        (StoreError(.notInstalled, "gone"), "model-not-found", "Model not found: diary"),
        (StoreError(.releaseDamaged, "damaged"), "release-damaged", "damaged"),
    ]

    @Test(arguments: meanings.indices)
    func eachErrorHasItsMeaning(_ index: Int) {
        let (error, code, sentence) = Self.meanings[index]
        let shown = LibraryFailure.shown(error, model: Models.text)
        #expect(shown.code == code)
        if let sentence { #expect(shown.message == sentence) }
        let presented = LibraryFailure.presented(error, model: Models.text)
        let isTranslated = code != error.codeText || ["insufficient-storage", "not-enough-memory"].contains(code)
        #expect(presented is ModelLibraryError == isTranslated)
    }

    @Test func anErrorFromOutsideIsShownInItsOwnWords() {
        struct Foreign: LocalizedError { var errorDescription: String? { "The dog ate it" } }
        #expect(LibraryFailure.shown(Foreign()) == FailureBody(code: "unknown", message: "The dog ate it"))
    }

    @Test func incompatibilitiesAreSentences() throws {
        #expect(
            Ineligibility.notEnoughMemory(needed: 9_000_000_000).message
                == "This model requires 9 GB RAM. Your device may not support it.")
        let version = try #require(SemanticVersion("2.1.0"))
        #expect(Ineligibility.appTooOld(needs: version).message == "This model needs version 2.1.0 of this app")
        #expect(Ineligibility.noEngine(.mlx).message.hasPrefix("This model is in the format mlx"))
        #expect(Ineligibility.heldBack.message.hasPrefix("This model is held back"))
        #expect(Ineligibility.notInRollout(percent: 10).message.hasPrefix("This model is offered to 10 %"))
    }
}
