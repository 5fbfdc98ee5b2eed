#if canImport(SwiftUI)
import Hearth
import HearthCatalog
import SwiftUI

/// The download of a model in a library: bytes, percentage, rate, time left, and a button that cancels it. Shows
/// nothing without an active download, so that it can stand in a list or in a sheet.
///
/// ```swift
/// .sheet(isPresented: $isDownloading) { DownloadProgressView(model, in: hearth.library) }
/// ```
public struct DownloadProgressView: View {
    private let family: Family
    private let library: ModelLibrary
    @Environment(\.locale) private var locale

    /// The progress of a model's download.
    public init(_ model: ModelInfo, in library: ModelLibrary) { self.init(model.id, in: library) }

    /// The progress of a family's download.
    public init(_ family: Family, in library: ModelLibrary) { (self.family, self.library) = (family, library) }

    public var body: some View {
        if let row = library.row(of: family), row.download.isActive {
            let words = Words(locale)
            ModelDownloadProgressView(
                model: row.model, progress: row.progress,
                figures: .init(phase: words.phase(row), bytes: words.bytes(row), pace: words.pace(row))
            ) { library.cancelDownload(family) }
        }
    }
}
#endif
