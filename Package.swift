// swift-tools-version: 6.2
import PackageDescription

// Traits turn off the heavy dependencies: an app that only delivers models needs neither llama.cpp nor a web server.
let llama = TargetDependencyCondition.when(traits: ["Llama"])
let server = TargetDependencyCondition.when(traits: ["Server"])
let vision = TargetDependencyCondition.when(traits: ["Vision"])
let mlx = TargetDependencyCondition.when(traits: ["MLX"])

/// A C library that other platforms replace by a framework of the system.
func onLinux(_ name: String) -> Target.Dependency { .target(name: name, condition: .when(platforms: [.linux])) }

// Delivery, and the modules whose types appear in its public API.
let delivery: [String] = [
    "HearthDelivery", "HearthStore", "HearthTransfer", "HearthCatalog", "HearthHTTP", "HearthBase",
]
let deliveryFloors: [Target.Dependency] = ["HearthCatalog", "HearthDelivery", "HearthStore", "HearthTransfer"]

let package = Package(
    name: "hearth",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        // Products for apps include the modules whose types appear in their public API, so that apps can import them.
        .library(name: "Hearth", targets: ["Hearth", "HearthInference"] + delivery),
        .library(name: "HearthDelivery", targets: delivery),
        .library(name: "HearthInference", targets: ["HearthInference", "HearthBase"]),
        .library(name: "HearthLlama", targets: ["HearthLlama"]),
        .library(name: "HearthClassification", targets: ["HearthClassification", "HearthInference", "HearthBase"]),
        .library(name: "HearthPublishing", targets: ["HearthPublishing"]),
        .library(
            name: "HearthAssistant",
            targets: ["HearthAssistant", "HearthDatabase", "HearthRouting", "HearthInference", "HearthBase"]),
        .library(name: "HearthRouting", targets: ["HearthRouting", "HearthInference", "HearthHTTP", "HearthBase"]),
        .library(name: "HearthServer", targets: ["HearthServer"]),
        .executable(name: "hearth", targets: ["hearth"]),
    ],
    traits: [
        .default(enabledTraits: ["Llama", "Server", "Vision"]),
        .trait(name: "Llama", description: "Text generation with llama.cpp (found through pkg-config as `llama`)."),
        .trait(name: "Server", description: "The model origin and everything else that listens (libmicrohttpd)."),
        .trait(name: "Vision", description: "Classifiers of pictures (OpenVINO and OpenCV, loaded at first use)."),
        .trait(
            name: "MLX",
            description:
                "Models of MLX's form with MLX's library (loaded at first use), and llama.cpp's tokenizers.",
            enabledTraits: ["Llama"]),
    ],
    targets: [
        // C libraries, imported through module maps.
        .systemLibrary(name: "CArchive", pkgConfig: "libarchive", providers: [.apt(["libarchive-dev"])]),
        .systemLibrary(name: "CCrypto", pkgConfig: "libcrypto", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CGio", pkgConfig: "gio-2.0", providers: [.apt(["libglib2.0-dev"])]),
        .systemLibrary(name: "CMicrohttpd", pkgConfig: "libmicrohttpd", providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(name: "CLlama", pkgConfig: "llama"),
        .systemLibrary(name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CIcal", pkgConfig: "libical", providers: [.apt(["libical-dev"])]),
        .systemLibrary(name: "CXML", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(
            name: "CMarkdown", pkgConfig: "libcmark-gfm",
            providers: [.apt(["libcmark-gfm-dev", "libcmark-gfm-extensions-dev"])]),
        .systemLibrary(name: "CEdit", pkgConfig: "libedit", providers: [.apt(["libedit-dev"])]),
        .systemLibrary(name: "CQRCode", pkgConfig: "qrcodegen", providers: [.apt(["libqrcodegen-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        // The libraries of the page, which set-up brings.
        .systemLibrary(name: "CWeb", pkgConfig: "hearth-web"),
        // The headers of OpenVINO, which set-up brings.
        .systemLibrary(name: "COpenVINO", pkgConfig: "hearth-vision"),
        // Loads OpenVINO and the library of pictures at first use. Set-up builds the latter of the excluded files.
        .target(
            name: "CVision", dependencies: [.target(name: "COpenVINO", condition: vision)],
            exclude: ["codecs.cpp", "codecs.h", "pages.cpp", "pages.hpp", "pictures.cpp", "png.cpp", "png.hpp"],
            cSettings: [.define("HEARTH_VISION", .when(traits: ["Vision"]))]),
        // Loads the library that computes with MLX at first use. Set-up builds it of the excluded files, and its header lies
        // beside llama.cpp's.
        .target(
            name: "CMLX", dependencies: [.target(name: "CLlama", condition: mlx)],
            exclude: ["load.cpp", "model.cpp", "model.hpp", "multiply.cpp", "table.cpp", "team.hpp"]),
        // Signal handlers, in which Swift code is not allowed to run.
        .target(name: "CTerminal"),
        // Calls of the system that Swift cannot import: names of threads, the start and confinement of worker processes.
        .target(name: "CProcess"),
        // The licenses that `hearth licenses` prints, as one constant.
        .target(name: "CLicenses", exclude: ["licenses.txt"]),
        // docs/errors.md, as a constant.
        .target(name: "CDocuments"),
        // The files of the page, as constants.
        .target(name: "CPage", dependencies: ["CWeb"], exclude: ["files.inc", "page"]),
        // The calls of libpq, which is loaded when a gateway keeps its records in PostgreSQL.
        .target(name: "CPostgres"),
        // Wrappers for the parts of llama.cpp that are C++, throw, end the process or change their structures.
        .target(
            name: "CLlamaShim",
            dependencies: [.target(name: "CLlama", condition: llama)],
            cxxSettings: [.define("HEARTH_LLAMA", .when(traits: ["Llama"]))]),

        // Used by delivery and inference.
        .target(
            name: "HearthBase",
            dependencies: [onLinux("CCrypto"), "CProcess"]),
        .target(
            name: "HearthHTTP",
            dependencies: [
                "HearthBase", onLinux("CCurl"), onLinux("CGio"),
            ]),

        // Delivery of models.
        .target(name: "HearthCatalog", dependencies: ["HearthBase", "HearthHTTP"]),
        .target(name: "HearthTransfer", dependencies: ["HearthBase", "HearthHTTP"]),
        .target(
            name: "HearthStore",
            dependencies: [
                "HearthBase", "HearthCatalog",
                onLinux("CArchive"),
            ]),
        .target(
            name: "HearthDelivery",
            dependencies: ["HearthBase", "HearthCatalog", "HearthHTTP", "HearthStore", "HearthTransfer"]),
        .target(
            name: "HearthPublishing",
            dependencies: ["HearthBase", "HearthCatalog", "HearthHTTP", "HearthStore", "HearthTransfer"]),

        // The import of models in other forms as GGUF files. The loops over weights are in C.
        .target(name: "CImport"),
        .target(name: "HearthImport", dependencies: ["CImport", "HearthBase"]),

        // Inference.
        .target(name: "HearthInference", dependencies: ["CZlib", "HearthBase"]),
        .target(
            name: "HearthLlama",
            dependencies: [
                "HearthBase", "HearthInference",
                .target(name: "CLlama", condition: llama),
                .target(name: "CLlamaShim", condition: llama),
            ]),

        .target(
            name: "HearthMLX",
            dependencies: [
                "HearthBase", "HearthImport", "HearthInference",
                .target(name: "CMLX", condition: mlx), .target(name: "HearthLlama", condition: mlx),
            ]),

        // The processes that engines run in.
        .target(name: "HearthWorkers", dependencies: ["CProcess", "HearthBase", "HearthInference"]),

        // Classifiers of pictures.
        .target(name: "HearthClassification", dependencies: ["CVision", "HearthBase", "HearthInference"]),

        // Cloud models, and the choice between them and local ones.
        .target(name: "HearthRouting", dependencies: ["HearthBase", "HearthHTTP", "HearthInference"]),

        // One small layer over SQLite and PostgreSQL, and the assistant on it.
        .target(
            name: "HearthDatabase",
            dependencies: [
                .target(name: "CPostgres", condition: .when(platforms: [.linux, .macOS])), "CSQLite", "HearthBase",
            ]),
        .target(
            name: "HearthAssistant",
            dependencies: [
                onLinux("CArchive"), onLinux("CGio"), onLinux("CIcal"), "CXML", "HearthBase", "HearthDatabase",
                "HearthHTTP",
                "HearthInference", "HearthRouting",
            ]),

        // The app's API on top of delivery and inference, the server and the command.
        .target(
            name: "Hearth",
            dependencies: [
                "HearthAssistant", "HearthBase", "HearthCatalog", "HearthClassification", "HearthDatabase",
                "HearthDelivery", "HearthHTTP", "HearthInference", "HearthRouting", "HearthStore", "HearthTransfer",
                "HearthWorkers", .target(name: "HearthImport", condition: llama),
                .target(name: "HearthLlama", condition: llama), .target(name: "HearthMLX", condition: mlx),
            ]),
        .target(
            name: "HearthServer",
            dependencies: [
                "CPage", "CZlib", "Hearth", "HearthAssistant", "HearthBase", "HearthClassification", "HearthDatabase",
                "HearthHTTP", "HearthInference", "HearthRouting",
                .target(name: "CMicrohttpd", condition: server),
                .target(name: "CQRCode", condition: server),
            ] + deliveryFloors),
        .target(
            name: "HearthCommand",
            dependencies: [
                "CDocuments", "CEdit", "CLicenses", "CMarkdown", "CTerminal", "Hearth", "HearthAssistant", "HearthBase",
                "HearthCatalog", "HearthClassification",
                "HearthDatabase", "HearthDelivery", "HearthHTTP", "HearthInference", "HearthPublishing",
                "HearthRouting", "HearthServer", "HearthStore", "HearthTransfer",
            ]),
        .executableTarget(name: "hearth", dependencies: ["HearthCommand"]),

        .target(
            name: "HearthTestSupport",
            dependencies: [
                "HearthBase", "HearthCatalog", "HearthHTTP", "HearthInference", "HearthStore", "HearthTransfer",
            ]),
        // A child process that ends itself at a chosen moment; not a product.
        .executableTarget(
            name: "HearthCrashProbe",
            dependencies: ["CTerminal", "HearthBase", "HearthHTTP", "HearthTestSupport"] + deliveryFloors,
            path: "Tests/CrashProbe"),
        // A worker of the tests of worker processes; not a product.
        .executableTarget(
            name: "HearthWorkerProbe", dependencies: ["CProcess", "HearthBase", "HearthWorkers"],
            path: "Tests/WorkerProbe"),
        // Cuts lines into tokens with an imported vocabulary; not a product.
        .executableTarget(
            name: "HearthTokenizerProbe",
            dependencies: [
                "HearthBase", "HearthImport", "HearthInference", .target(name: "CLlama", condition: llama),
                .target(name: "HearthLlama", condition: llama),
            ],
            path: "Tests/TokenizerProbe"),
        // Imports a folder of safetensors; not a product.
        .executableTarget(
            name: "HearthImportProbe", dependencies: ["HearthBase", "HearthImport"], path: "Tests/ImportProbe"),
        // Continues lists of tokens with MLX; not a product.
        .executableTarget(
            name: "HearthMLXProbe",
            dependencies: [
                "HearthBase", "HearthInference", "HearthMLX", .target(name: "HearthLlama", condition: mlx),
            ],
            path: "Tests/MLXProbe"),
        // Declares the names that Apple's FoundationModels and this package share.
        .target(name: "LookalikeModels", path: "Tests/Lookalike"),
        .testTarget(name: "HearthBaseTests", dependencies: ["HearthBase", "HearthTestSupport"]),
        .testTarget(name: "HearthHTTPTests", dependencies: ["HearthBase", "HearthHTTP", "HearthTestSupport"]),
        .testTarget(
            name: "HearthCatalogTests",
            dependencies: ["HearthBase", "HearthCatalog", "HearthHTTP", "HearthTestSupport"]),
        .testTarget(
            name: "HearthTransferTests",
            dependencies: ["HearthBase", "HearthHTTP", "HearthTestSupport", "HearthTransfer"]),
        .testTarget(
            name: "HearthStoreTests", dependencies: ["HearthBase", "HearthCatalog", "HearthStore", "HearthTestSupport"]),
        .testTarget(
            name: "HearthDeliveryTests",
            dependencies: ["HearthBase", "HearthHTTP", "HearthTestSupport"] + deliveryFloors),
        .testTarget(
            name: "HearthPublishingTests",
            dependencies: ["HearthBase", "HearthHTTP", "HearthPublishing", "HearthTestSupport"] + deliveryFloors),
        .testTarget(name: "HearthImportTests", dependencies: ["HearthBase", "HearthImport", "HearthTestSupport"]),
        .testTarget(
            name: "HearthInferenceTests",
            dependencies: ["HearthBase", "HearthInference", "HearthTestSupport", "LookalikeModels"]),
        .testTarget(
            name: "HearthWorkersTests",
            dependencies: [
                "CProcess", "HearthBase", "HearthInference", "HearthTestSupport", "HearthWorkerProbe", "HearthWorkers",
            ]),
        .testTarget(
            name: "HearthClassificationTests",
            dependencies: ["HearthBase", "HearthClassification", "HearthInference", "HearthTestSupport"]),
        .testTarget(
            name: "HearthRoutingTests",
            dependencies: ["HearthBase", "HearthHTTP", "HearthInference", "HearthRouting", "HearthTestSupport"]),
        .testTarget(
            name: "HearthDatabaseTests", dependencies: ["HearthBase", "HearthDatabase", "HearthTestSupport"]),
        .testTarget(
            name: "HearthAssistantTests",
            dependencies: [
                "HearthAssistant", "HearthBase", "HearthDatabase", "HearthHTTP", "HearthInference", "HearthRouting",
                "HearthTestSupport",
            ], exclude: ["Words/sentences.tsv"]),
        .testTarget(
            name: "HearthLlamaTests",
            dependencies: [
                "HearthBase", "HearthInference", "HearthLlama", "HearthTestSupport",
                .target(name: "CLlama", condition: llama), .target(name: "CLlamaShim", condition: llama),
            ]),
        .testTarget(
            name: "HearthMLXTests",
            dependencies: [
                "HearthBase", "HearthImport", "HearthInference", "HearthMLX", "HearthTestSupport",
                .target(name: "CMLX", condition: mlx), .target(name: "HearthLlama", condition: mlx),
            ]),
        .testTarget(
            name: "HearthTests",
            dependencies: [
                "Hearth", "HearthAssistant", "HearthBase", "HearthClassification", "HearthHTTP", "HearthInference",
                "HearthRouting", "HearthTestSupport", .target(name: "HearthLlama", condition: llama),
            ] + deliveryFloors),
        // Plans of five apps, with the names and calls of their authors. It sees what an app sees.
        .testTarget(
            name: "SeedTests",
            dependencies: [
                "Hearth", "HearthAssistant", "HearthBase", "HearthClassification", "HearthHTTP", "HearthInference",
                "HearthRouting", .target(name: "HearthLlama", condition: llama),
            ] + deliveryFloors, path: "Tests/Seeds", packageAccess: false),
        .testTarget(
            name: "HearthServerTests",
            dependencies: [
                "Hearth", "HearthAssistant", "HearthBase", "HearthDatabase", "HearthHTTP", "HearthInference",
                "HearthRouting", "HearthServer", "HearthTestSupport",
            ] + deliveryFloors),
        .testTarget(
            name: "HearthCommandTests",
            dependencies: [
                "CTerminal", "Hearth", "HearthAssistant", "HearthBase", "HearthClassification", "HearthCommand",
                "HearthCrashProbe", "HearthDatabase", "HearthHTTP", "HearthInference", "HearthPublishing",
                "HearthRouting", "HearthServer",
                .target(name: "HearthLlama", condition: llama), "HearthTestSupport", "hearth",
            ] + deliveryFloors,
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
let cTargets = [
    "CDocuments", "CImport", "CLicenses", "CLlamaShim", "CMLX", "CPage", "CPostgres", "CProcess", "CTerminal",
    "CVision",
]
for target in package.targets
where [.regular, .executable, .test].contains(target.type) && !cTargets.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
