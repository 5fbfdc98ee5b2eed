import Foundation
import HearthBase
import HearthHTTP
import HearthRouting
import HearthTransfer

/// The settings `gateway.*`: the service that gives out time-limited addresses of files.
package struct GatewayConfiguration: Sendable, Hashable {
    /// `nil` for no gateway: files are fetched from the addresses in the catalog.
    var url: URL?
    var header = AuthenticatedDownloader.defaultHeader
    var keyFile: Path?
    /// The beginnings of the addresses that need one; empty for those beside each list of models.
    var files: [URL] = []

    /// The variable of the environment that gives the key.
    package static let keyVariable = "HEARTH_GATEWAY_KEY"

    /// The provider of addresses; `nil` without a gateway.
    ///
    /// The key is read at each question, so that a missing one stops downloads only. Without `gateway.files`, the files
    /// beside the configured origins' lists need an address.
    /// - Throws: `TransferError` with `no-address` for settings that were written by hand and cannot be used.
    package func provider(
        origins: [URL], environment: [String: String], http: any HTTPClient, time: TimeSource
    ) throws -> (any DownloadURLProvider)? {
        guard let url else { return nil }
        let beside = origins.filter { !$0.isFileURL }.map { $0.beside(".") }
        // Without any, no file: an empty list would stand for every file, those of the Hub included.
        guard !(files.isEmpty && beside.isEmpty) else { return nil }
        let keyFile = keyFile
        return try AuthenticatedDownloader(
            gateway: url, header: header,
            files: files.isEmpty ? beside : files, http: http, time: time
        ) {
            let text = environment[Self.keyVariable] ?? ""
            if let secret = Secret(text) { return secret }
            if text.isEmpty, let keyFile { return try CloudKey.read(keyFile) }
            let problem = text.isEmpty ? "wants a key, and none is set" : "cannot be sent the key that is set"
            throw ConfigurationError(
                .notSet, "the gateway \(url.host() ?? "") \(problem)",
                context: ErrorContext(
                    field: "gateway.keyFile",
                    remedy: "Give the key of the gateway: one line in a file that only its owner can read."))
        }
    }
}
