import Foundation
import HearthDelivery

// Reads a manifest as an origin would serve it, and prints the release this device would be given.
guard CommandLine.arguments.count == 2, let address = URL(string: "https://models.example/models.json") else {
    print("usage: Consumer MODELS.JSON")
    exit(64)
}
do {
    let catalog = try Catalog(manifest: Data(contentsOf: URL(filePath: CommandLine.arguments[1])), url: address)
    for family in catalog.families {
        let release = try catalog.select(
            family: family, selection: CatalogSelection(deviceMemory: ProcessInfo.processInfo.physicalMemory))
        print("\(release.identity) \(release.totalSize) bytes")
    }
} catch {
    print(error)
    exit(1)
}
