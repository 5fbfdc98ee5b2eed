#if canImport(SwiftUI)
import Hearth
import HearthTransfer
import SwiftUI

/// The views over a library, for Xcode's canvas.
struct LibraryPreviews: PreviewProvider {
    static var previews: some View {
        PreviewLibrary(downloads: [PreviewShop.moving]) { library in Form { ModelSettingsSection(library) } }
            .previewDisplayName("Section of models")
        NavigationStack { PreviewLibrary { SettingsView($0) } }
            .previewDisplayName("Settings")
        PreviewLibrary(downloads: [PreviewShop.moving]) { DownloadProgressView(PreviewShop.moving, in: $0) }
            .padding()
            .previewDisplayName("Download of a library")
        PreviewLibrary { UpdateBanner($0) }
            .padding()
            .previewDisplayName("Update")
        PreviewLibrary { DownloadModelButton(PreviewShop.moving, in: $0) }
            .padding()
            .previewDisplayName("Button of a feature")
        PreviewLibrary(downloads: [PreviewShop.metered]) { library in
            Text(verbatim: "…").cellularWarning(for: library)
        }
        .previewDisplayName("Question on a metered network")
    }
}
#endif
