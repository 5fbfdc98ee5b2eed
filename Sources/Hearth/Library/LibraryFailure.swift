import Foundation
import HearthBase
import HearthCatalog
import HearthDelivery
import HearthHTTP
import HearthStore
import HearthTransfer

/// Translates errors of delivery to errors of the library.
package enum LibraryFailure {
    /// Translates an error to a ``ModelLibraryError``; returns errors without a translation unchanged, such as
    /// corrupted bytes or a metered network.
    /// - Parameter model: the model concerned, if any.
    package static func presented(_ error: any Error, model: ModelInfo? = nil) -> any HearthFailure {
        switch error {
        case let error as DeliveryError: delivery(error, model) ?? error
        case let error as NetworkError where error.code == .offline:
            ModelLibraryError.networkError(error.message, underlying: error)
        case let error as HTTPError: ModelLibraryError.networkError(error.message, underlying: error)
        case let error as TransferError: transfer(error, model) ?? error
        case let error as CatalogError: catalog(error, model) ?? error
        case let error as StoreError where error.code == .notInstalled || error.code == .noActiveRelease:
            notFound(model, error)
        case let error as FileError where error.code == .diskFull:
            model.map { ModelLibraryError.insufficientStorage(required: storage(for: $0), underlying: error) } ?? error
        case let error as any HearthFailure: error
        default: ForeignFailure(underlying: error)
        }
    }

    /// The failure shown for a download: code and sentence of the translated error, disposition of the original.
    package static func shown(_ error: any Error, model: ModelInfo? = nil) -> FailureBody {
        let failure = presented(error, model: model)
        return FailureBody(
            code: failure.codeText, message: failure.sentence,
            disposition: (error as? any HearthFailure ?? failure).disposition)
    }

    private static func delivery(_ error: DeliveryError, _ model: ModelInfo?) -> ModelLibraryError? {
        let figure = bytes(error.context.expected)
        switch error.code {
        case .notEnoughMemory:
            return (figure ?? model?.requiredMemory)
                .map { ModelLibraryError.insufficientMemory(required: $0, underlying: error) }
        case .insufficientStorage:
            return (figure ?? model.map(storage))
                .map { ModelLibraryError.insufficientStorage(required: $0, underlying: error) }
        default: return nil
        }
    }

    private static func transfer(_ error: TransferError, _ model: ModelInfo?) -> ModelLibraryError? {
        switch error.code {
        case .missing: notFound(model, error)
        case .serverBusy, .accessDenied, .webPage, .unexpectedStatus, .badContentRange, .contentEncoded, .lfsPointer:
            ModelLibraryError.networkError(error.message, underlying: error)
        default: nil
        }
    }

    private static func catalog(_ error: CatalogError, _ model: ModelInfo?) -> ModelLibraryError? {
        switch error.code {
        case .unknownFamily, .unknownVersion, .unknownVariant, .repositoryMissing, .revisionMissing, .fileMissing,
            .noKnownModel:
            notFound(model, error)
        case .originUnreachable, .originRefused, .notAManifest:
            ModelLibraryError.networkError(error.message, underlying: error)
        default: nil
        }
    }

    private static func notFound(_ model: ModelInfo?, _ error: any HearthFailure) -> ModelLibraryError {
        ModelLibraryError.modelNotFound(
            model?.displayName ?? error.context.model ?? error.context.file ?? "unnamed", underlying: error)
    }

    /// The free space that delivery requires for a model not on the device: its size and a fifth.
    private static func storage(for model: ModelInfo) -> UInt64 {
        let need = model.size.addingReportingOverflow(model.size / 5 + (model.size % 5 == 0 ? 0 : 1))
        return need.overflow ? .max : need.partialValue
    }

    /// Parses `2400000000 bytes`, the form of delivery's figures.
    private static func bytes(_ text: String?) -> UInt64? {
        guard let text, text.hasSuffix(" bytes") else { return nil }
        return UInt64(text.dropLast(" bytes".count))
    }
}

/// An error from outside this package, for example from an app's own loader.
private struct ForeignFailure: HearthFailure {
    let underlying: (any Error)?

    var codeText: String { "unknown" }
    var message: String { underlying?.localizedDescription ?? "Something went wrong" }
    var context: ErrorContext { ErrorContext() }
    var disposition: ErrorDisposition { .failed }
}
