import Foundation
import HearthDelivery

// Asks an origin, here a file, for its models, and prints the release this device would be given of each family.
guard CommandLine.arguments.count == 2 else {
    print("usage: Consumer MODELS.JSON")
    exit(64)
}
let home = FileManager.default.temporaryDirectory.appending(path: "consumer-\(UUID().uuidString)")
defer { try? FileManager.default.removeItem(at: home) }
do {
    let manager = ModelManager(
        home: home, origins: [Origin(name: "file", manifestURL: URL(filePath: CommandLine.arguments[1]))],
        deviceMemory: ProcessInfo.processInfo.physicalMemory)
    let offer = try await manager.resolve(try ModelReference(parsing: "lupus-diary"))
    print("\(offer.release.identity) \(offer.release.totalSize) bytes")
} catch {
    print(error)
    exit(1)
}
