// swift-tools-version: 6.2
import PackageDescription

// An app that only brings models to the device. No traits: neither llama.cpp nor a web server is built or needed.
let package = Package(
    name: "Consumer",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "hearth", path: "../..", traits: [])],
    targets: [
        .executableTarget(
            name: "Consumer", dependencies: [.product(name: "HearthDelivery", package: "hearth")], path: "Delivery")
    ]
)
