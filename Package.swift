// swift-tools-version: 6.2
import PackageDescription

// Traits switch the heavy parts: an app that only delivers models needs neither llama.cpp nor a web server.
let llama = TargetDependencyCondition.when(traits: ["Llama"])
let server = TargetDependencyCondition.when(traits: ["Server"])

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        // With the floors they stand on, whose types their interfaces speak: an app imports those too.
        .library(name: "Hearth", targets: ["Hearth", "HearthDelivery", "HearthInference", "HearthHTTP", "HearthBase"]),
        .library(name: "HearthDelivery", targets: ["HearthDelivery", "HearthHTTP", "HearthBase"]),
        .library(name: "HearthInference", targets: ["HearthInference", "HearthBase"]),
        .library(name: "HearthLlama", targets: ["HearthLlama"]),
        .library(name: "HearthPublishing", targets: ["HearthPublishing"]),
        .library(name: "HearthServer", targets: ["HearthServer"]),
        .executable(name: "hearth", targets: ["hearth"]),
    ],
    traits: [
        .default(enabledTraits: ["Llama", "Server"]),
        .trait(name: "Llama", description: "Text generation with llama.cpp (found through pkg-config as `llama`)."),
        .trait(name: "Server", description: "The model origin and everything else that listens (libmicrohttpd)."),
    ],
    targets: [
        // Other people's C, seen through module maps.
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CGio", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CLlama", pkgConfig: "llama"),
        // What a handler of a signal does: there Swift may not be run.
        .target(name: "CTerminal"),
        // What of llama.cpp is C++, or throws, ends the process or changes its structures.
        .target(
            name: "CLlamaShim",
            dependencies: [.target(name: "CLlama", condition: llama)],
            cxxSettings: [.define("HEARTH_LLAMA", .when(traits: ["Llama"]))]),

        // What both rivers stand on.
        .target(name: "HearthBase", dependencies: ["CCrypto"]),
        .target(name: "HearthHTTP", dependencies: ["HearthBase", "CCurl"]),

        // The river of bytes.
        .target(
            name: "HearthDelivery",
            dependencies: [
                "HearthBase", "HearthHTTP",
                // Elsewhere the network has another monitor, and archives another reader.
                .target(name: "CGio", condition: .when(platforms: [.linux])),
                .target(name: "CArchive", condition: .when(platforms: [.linux])),
            ]),
        .target(name: "HearthPublishing", dependencies: ["HearthBase", "HearthDelivery"]),

        // The river of tokens.
        .target(name: "HearthInference", dependencies: ["HearthBase"]),
        .target(
            name: "HearthLlama",
            dependencies: [
                "HearthBase", "HearthInference",
                .target(name: "CLlama", condition: llama),
                .target(name: "CLlamaShim", condition: llama),
            ]),

        // Where they meet, and what people touch.
        .target(
            name: "Hearth",
            dependencies: [
                "HearthBase", "HearthDelivery", "HearthHTTP", "HearthInference",
                .target(name: "HearthLlama", condition: llama),
            ]),
        .target(
            name: "HearthServer",
            dependencies: ["HearthBase", .target(name: "CMicrohttpd", condition: server)]),
        .target(
            name: "HearthCommand",
            dependencies: [
                "CTerminal", "Hearth", "HearthBase", "HearthDelivery", "HearthHTTP", "HearthInference",
                "HearthPublishing", .target(name: "HearthServer", condition: server),
            ]),
        .executableTarget(name: "hearth", dependencies: ["HearthCommand"]),

        // Tests.
        .target(name: "HearthTestSupport", dependencies: ["HearthBase", "HearthHTTP", "HearthInference"]),
        // A child process that ends itself at a chosen moment; no product, and nobody installs it.
        .executableTarget(
            name: "HearthCrashProbe",
            dependencies: ["CTerminal", "HearthBase", "HearthDelivery", "HearthHTTP", "HearthTestSupport"],
            path: "Tests/CrashProbe"),
        // Measures what it costs to read an answer; scripts/bench builds and runs it.
        .executableTarget(name: "HearthStreamBench", dependencies: ["HearthInference"], path: "Tests/StreamBench"),
        // Measures what an app waits for at its start.
        .executableTarget(
            name: "HearthStoreBench", dependencies: ["Hearth", "HearthBase", "HearthDelivery", "HearthHTTP"],
            path: "Tests/StoreBench"),
        // Declares the names that Apple's FoundationModels and this package share.
        .target(name: "LookalikeModels", path: "Tests/Lookalike"),
        // Answers several prompts at once; the same.
        .executableTarget(
            name: "HearthManyBench",
            dependencies: [
                .target(name: "CLlama", condition: llama), .target(name: "CLlamaShim", condition: llama), "HearthBase",
                "HearthInference",
                .target(name: "HearthLlama", condition: llama),
            ],
            path: "Tests/ManyBench"),
        // Answers while the same process pulls, hashes or serves.
        .executableTarget(
            name: "HearthBesideBench",
            dependencies: [
                "Hearth", "HearthBase", "HearthDelivery", "HearthInference",
                .target(name: "HearthLlama", condition: llama), .target(name: "HearthServer", condition: server),
            ],
            path: "Tests/BesideBench"),
        .testTarget(name: "HearthBaseTests", dependencies: ["HearthBase", "HearthTestSupport"]),
        .testTarget(name: "HearthHTTPTests", dependencies: ["HearthBase", "HearthHTTP", "HearthTestSupport"]),
        .testTarget(
            name: "HearthDeliveryTests",
            dependencies: ["HearthBase", "HearthDelivery", "HearthHTTP", "HearthTestSupport"]),
        .testTarget(
            name: "HearthPublishingTests",
            dependencies: ["HearthBase", "HearthDelivery", "HearthPublishing", "HearthTestSupport"]),
        .testTarget(
            name: "HearthInferenceTests",
            dependencies: ["HearthBase", "HearthInference", "HearthTestSupport", "LookalikeModels"]),
        .testTarget(
            name: "HearthLlamaTests",
            dependencies: [
                "HearthBase", "HearthInference", "HearthLlama", "HearthTestSupport",
                .target(name: "CLlama", condition: llama), .target(name: "CLlamaShim", condition: llama),
            ]),
        .testTarget(
            name: "HearthTests",
            dependencies: [
                "Hearth", "HearthBase", "HearthDelivery", "HearthHTTP", "HearthInference", "HearthTestSupport",
                .target(name: "HearthLlama", condition: llama),
            ]),
        .testTarget(name: "HearthServerTests", dependencies: ["HearthBase", "HearthServer", "HearthTestSupport"]),
        .testTarget(
            name: "HearthCommandTests",
            dependencies: [
                "CTerminal", "Hearth", "HearthBase", "HearthCommand", "HearthCrashProbe", "HearthDelivery",
                "HearthHTTP", "HearthInference", .target(name: "HearthLlama", condition: llama), "HearthTestSupport",
                "hearth",
            ],
            exclude: ["Golden"]),
    ],
    cLanguageStandard: .c17,
    cxxLanguageStandard: .cxx17
)

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
for target in package.targets
where [.regular, .executable, .test].contains(target.type) && !["CLlamaShim", "CTerminal"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
