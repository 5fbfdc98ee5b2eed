// swift-tools-version: 6.2
// The package of scripts/siblings/run.sh: the files that stand in for Linux's libraries on Apple platforms, and their tests.
import PackageDescription

func targets(_ names: String) -> [Target.Dependency] {
    names.split(separator: " ").map { .init(stringLiteral: String($0)) }
}
/// Apple's Foundation has more than the toolchain's: every file imports what it lacks.
let foundation: [SwiftSetting] = [.unsafeFlags(["-Xfrontend", "-import-module", "-Xfrontend", "StandIns"])]
func tests(_ name: String, _ needed: String) -> Target {
    .testTarget(name: "\(name)Tests", dependencies: targets("\(name) HearthTestSupport StandIns \(needed)"))
}

let package = Package(
    name: "hearth",
    products: [],
    targets: [
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto"),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib"),
        .target(name: "CProcess"),
        .target(name: "StandIns"),
        .target(name: "CryptoKit", dependencies: targets("CCrypto")),
        .target(name: "Security", dependencies: targets("CCrypto StandIns")),
        .target(name: "Network"),
        .target(
            name: "HearthBase", dependencies: targets("CProcess CryptoKit Security StandIns"),
            exclude: ["PrivacyInfo.xcprivacy"], swiftSettings: foundation),
        .target(
            name: "HearthHTTP", dependencies: targets("HearthBase Network StandIns"), swiftSettings: foundation),
        .target(name: "HearthCatalog", dependencies: targets("HearthBase HearthHTTP")),
        .target(name: "HearthTransfer", dependencies: targets("HearthBase HearthHTTP")),
        .target(
            name: "HearthStore", dependencies: targets("CZlib HearthBase HearthCatalog StandIns"),
            swiftSettings: foundation),
        .target(
            name: "HearthTestSupport",
            dependencies: targets("HearthBase HearthCatalog HearthHTTP HearthStore HearthTransfer")),
        tests("HearthBase", ""),
        tests("HearthHTTP", "HearthBase Network"),
        tests("HearthStore", "HearthBase HearthCatalog"),
        tests("HearthTransfer", "HearthBase HearthHTTP"),
    ])
