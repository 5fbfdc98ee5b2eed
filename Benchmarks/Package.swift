// swift-tools-version: 6.2
import PackageDescription

// The programs that scripts/bench and scripts/classify run, in a package of their own: an app that depends on hearth never sees
// them. They measure optimised builds, in which `@testable` would change what is measured. So that they may look behind the public
// interface, they count as part of the package, whose name is to the compiler that of its folder.
let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? "hearth"
let name = String(folder.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6), .treatAllWarnings(as: .error), .unsafeFlags(["-package-name", name]),
]
func program(_ name: String, _ products: [String]) -> Target {
    .executableTarget(
        name: name, dependencies: products.map { .product(name: $0, package: "hearth") }, packageAccess: false,
        swiftSettings: settings)
}

let package = Package(
    name: "Benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "hearth", path: "..")],
    targets: [
        // The cost of reading an answer.
        program("HearthStreamBench", ["HearthAssistant", "HearthInference", "HearthRouting"]),
        // How long an app waits at its start before its engine opens the model.
        program("HearthStoreBench", ["Hearth", "HearthDelivery"]),
        // Answering several prompts at once.
        program("HearthManyBench", ["HearthInference", "HearthLlama"]),
        // Classifying many pictures, a batch at a time.
        program("HearthPictureBench", ["HearthClassification"]),
        // Answering while the same process pulls, hashes or serves.
        program("HearthBesideBench", ["Hearth", "HearthDelivery", "HearthInference", "HearthLlama", "HearthServer"]),
    ]
)
