// swift-tools-version: 6.2
import PackageDescription

// The fuzz targets, in a package of their own: an app that depends on hearth never sees them.
// Build with scripts/fuzz/run.sh; libFuzzer brings the main function, so a plain build does not link.
let package = Package(
    name: "Fuzz",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "hearth", path: "..", traits: ["Server"])],
    targets: [
        .executableTarget(
            // In debug builds, which this always is, it looks behind the public interface.
            name: "Fuzz",
            dependencies: [
                .product(name: "Hearth", package: "hearth"),
                .product(name: "HearthAssistant", package: "hearth"),
                .product(name: "HearthClassification", package: "hearth"),
                .product(name: "HearthDelivery", package: "hearth"),
                .product(name: "HearthInference", package: "hearth"),
                .product(name: "HearthPublishing", package: "hearth"),
                .product(name: "HearthRouting", package: "hearth"),
                .product(name: "HearthServer", package: "hearth"),
            ],
            swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)])
    ]
)
