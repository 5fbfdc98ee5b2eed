// swift-tools-version: 6.2
import Foundation
import PackageDescription

// Traits turn off the heavy dependencies: an app that only delivers models needs neither llama.cpp nor a web server.
let llama = TargetDependencyCondition.when(traits: ["Llama"])
let server = TargetDependencyCondition.when(traits: ["Server"])
let mlx = TargetDependencyCondition.when(traits: ["MLX"])
// Apple platforms have frameworks of the system in place of these libraries.
let linux = TargetDependencyCondition.when(platforms: [.linux])

// What differs with the machine that builds. In a manifest `os` is that of the host, which is a Mac also if the target is an iPhone.
#if os(Linux)
let defaultTraits: Set<String> = ["Llama", "Server", "Vision"]
let llamaTargets: [Target] = [
    .systemLibrary(name: "CLlama", pkgConfig: "llama"),
    // Wrappers for the parts of llama.cpp that are C++, throw, end the process or change their structures.
    .target(
        name: "CLlamaShim", dependencies: [.target(name: "CLlama", condition: llama)],
        cxxSettings: [.define("HEARTH_LLAMA", .when(traits: ["Llama"]))]),
]
let llamaLibraries = "CLlama CLlamaShim"
let privacyManifest: (excluded: [String], resources: [Resource]) = (["PrivacyInfo.xcprivacy"], [])
/// The system's library, found through pkg-config.
func sdk(_ name: String, _ package: String, apt: String) -> Target {
    .systemLibrary(name: name, pkgConfig: package, providers: [.apt([apt])])
}
#else
// The shim lies in the framework with llama.cpp: scripts/apple/xcframework.sh makes it.
let llamaFramework = "Frameworks/CLlama.xcframework"
let hasLlama = FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/\(llamaFramework)")
let defaultTraits: Set<String> = hasLlama ? ["Llama"] : []
let llamaTargets: [Target] = hasLlama ? [.binaryTarget(name: "CLlama", path: llamaFramework)] : []
let llamaLibraries = hasLlama ? "CLlama" : ""
let privacyManifest: (excluded: [String], resources: [Resource]) = ([], [.copy("PrivacyInfo.xcprivacy")])
/// The library of Apple's SDK, found by its module map alone: pkg-config would find another one, for the Mac.
func sdk(_ name: String, _ package: String, apt: String) -> Target { .systemLibrary(name: name) }
#endif

/// Dependencies on targets, whose names stand between spaces.
func targets(_ names: String, _ condition: TargetDependencyCondition? = nil) -> [Target.Dependency] {
    names.split(separator: " ").map { .target(name: String($0), condition: condition) }
}
/// A library of Linux, imported through its module map.
func system(_ name: String, _ package: String, apt: String...) -> Target {
    .systemLibrary(name: name, pkgConfig: package, providers: apt.isEmpty ? nil : [.apt(apt)])
}
/// The tests of a target, and what they need beside it and `HearthTestSupport`.
func tests(_ name: String, _ needed: String = "", more: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: "\(name)Tests", dependencies: targets("\(name) HearthTestSupport \(needed)") + more, exclude: exclude)
}
/// A program that tests start; not a product.
func probe(_ name: String, _ needed: String, more: [Target.Dependency] = []) -> Target {
    .executableTarget(name: "Hearth\(name)", dependencies: targets(needed) + more, path: "Tests/\(name)")
}

// Delivery, and the modules whose types appear in its public API.
let delivery = ["HearthDelivery", "HearthStore", "HearthTransfer", "HearthCatalog", "HearthHTTP", "HearthBase"]
let deliveryFloors = "HearthCatalog HearthDelivery HearthStore HearthTransfer"
// Requests to models here and elsewhere.
let routing = "HearthBase HearthHTTP HearthInference HearthRouting"

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
        .library(name: "HearthUI", targets: ["HearthUI"]),
        .library(name: "HearthFoundationModels", targets: ["HearthFoundationModels"]),
        .library(name: "HearthApple", targets: ["HearthApple"]),
        .library(name: "HearthBackground", targets: ["HearthBackground"] + delivery),
        .executable(name: "hearth", targets: ["hearth"]),
    ],
    traits: [
        .default(enabledTraits: defaultTraits),
        .trait(name: "Llama", description: "Text generation with llama.cpp (found through pkg-config as `llama`)."),
        .trait(name: "Server", description: "The model origin and everything else that listens (libmicrohttpd)."),
        .trait(name: "Vision", description: "Classifiers of pictures (OpenVINO and OpenCV, loaded at first use)."),
        .trait(
            name: "MLX",
            description:
                "Models of MLX's form with MLX's library (loaded at first use), and llama.cpp's tokenizers.",
            enabledTraits: ["Llama"]),
    ],
    targets: llamaTargets + [
        // C libraries, imported through module maps.
        system("CArchive", "libarchive", apt: "libarchive-dev"),
        system("CCrypto", "libcrypto", apt: "libssl-dev"),
        system("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
        system("CGio", "gio-2.0", apt: "libglib2.0-dev"),
        system("CIcal", "libical", apt: "libical-dev"),
        system("CXML", "libxml-2.0", apt: "libxml2-dev"),
        sdk("CSQLite", "sqlite3", apt: "libsqlite3-dev"),
        sdk("CZlib", "zlib", apt: "zlib1g-dev"),
        // For the server and the command, also on a Mac.
        system("CMicrohttpd", "libmicrohttpd", apt: "libmicrohttpd-dev"),
        system("CMarkdown", "libcmark-gfm", apt: "libcmark-gfm-dev", "libcmark-gfm-extensions-dev"),
        system("CEdit", "libedit", apt: "libedit-dev"),
        system("CQRCode", "qrcodegen", apt: "libqrcodegen-dev"),
        // Set-up brings the libraries of the page, and the headers of OpenVINO.
        system("CWeb", "hearth-web"),
        system("COpenVINO", "hearth-vision"),
        // Loads OpenVINO and the library of pictures at first use. Set-up builds the latter of the excluded files.
        .target(
            name: "CVision", dependencies: targets("COpenVINO", .when(platforms: [.linux], traits: ["Vision"])),
            exclude: ["codecs.cpp", "codecs.h", "pages.cpp", "pages.hpp", "pictures.cpp", "png.cpp", "png.hpp"],
            cSettings: [.define("HEARTH_VISION", .when(platforms: [.linux], traits: ["Vision"]))]),
        // Loads the library that computes with MLX at first use. Set-up builds it of the excluded files, and its header lies
        // beside llama.cpp's.
        .target(
            name: "CMLX", dependencies: targets(llamaLibraries == "" ? "" : "CLlama", mlx),
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

        // Used by delivery and inference.
        .target(
            name: "HearthBase", dependencies: targets("CProcess") + targets("CCrypto", linux),
            exclude: privacyManifest.excluded, resources: privacyManifest.resources),
        .target(name: "HearthHTTP", dependencies: targets("HearthBase") + targets("CCurl CGio", linux)),

        // Delivery of models.
        .target(name: "HearthCatalog", dependencies: targets("HearthBase HearthHTTP")),
        .target(name: "HearthTransfer", dependencies: targets("HearthBase HearthHTTP")),
        .target(
            name: "HearthStore", dependencies: targets("CZlib HearthBase HearthCatalog") + targets("CArchive", linux)),
        .target(
            name: "HearthDelivery",
            dependencies: targets("HearthBase HearthCatalog HearthHTTP HearthStore HearthTransfer")),
        // Downloads that outlive an app. Apps of Apple's platforms import it; what it decides is tested on Linux.
        .target(name: "HearthBackground", dependencies: targets("HearthBase HearthHTTP \(deliveryFloors)")),
        .target(
            name: "HearthPublishing",
            dependencies: targets("HearthBase HearthCatalog HearthHTTP HearthStore HearthTransfer")),

        // The import of models in other forms as GGUF files. The loops over weights are in C.
        .target(name: "CImport"),
        .target(name: "HearthImport", dependencies: targets("CImport HearthBase")),

        // Inference.
        .target(name: "HearthInference", dependencies: targets("CZlib HearthBase")),
        .target(
            name: "HearthLlama", dependencies: targets("HearthBase HearthInference") + targets(llamaLibraries, llama)),
        .target(
            name: "HearthMLX",
            dependencies: targets("HearthBase HearthImport HearthInference") + targets("CMLX HearthLlama", mlx)),

        // The processes that engines run in.
        .target(name: "HearthWorkers", dependencies: targets("CProcess HearthBase HearthInference")),

        // Classifiers of pictures.
        .target(name: "HearthClassification", dependencies: targets("CVision HearthBase HearthInference")),

        // Cloud models, and the choice between them and local ones.
        .target(name: "HearthRouting", dependencies: targets("HearthBase HearthHTTP HearthInference")),

        // One small layer over SQLite and PostgreSQL, and the assistant on it.
        .target(
            name: "HearthDatabase",
            dependencies: targets("CSQLite HearthBase") + targets("CPostgres", .when(platforms: [.linux, .macOS]))),
        .target(
            name: "HearthAssistant",
            dependencies: targets("HearthDatabase \(routing)")
                + targets("CArchive CGio CIcal CXML", linux),
            linkerSettings: [.linkedLibrary("xml2", .when(platforms: [.macOS, .iOS, .tvOS, .visionOS]))]),

        // The app's API on top of delivery and inference, the server and the command.
        .target(
            name: "Hearth",
            dependencies: targets(
                "HearthAssistant HearthClassification HearthDatabase HearthWorkers \(routing) \(deliveryFloors)")
                + targets("HearthImport HearthLlama", llama)
                + targets("HearthMLX", mlx)),
        // Views for SwiftUI; on Linux only their words.
        .target(
            name: "HearthUI",
            dependencies: targets(
                "Hearth HearthAssistant \(routing) HearthCatalog HearthDelivery HearthTransfer")),
        // Apple's Foundation Models and mlx-swift-lm; on Linux what they need of Hearth.
        .target(
            name: "HearthFoundationModels",
            dependencies: targets("HearthBase HearthInference HearthRouting \(deliveryFloors)")),
        // Calendars, contacts, classifiers and the state of Apple's devices; on Linux their rules over plain values.
        .target(
            name: "HearthApple",
            dependencies: targets(
                "Hearth HearthAssistant HearthBase HearthClassification HearthDelivery HearthHTTP HearthInference")),
        .target(
            name: "HearthServer",
            dependencies: targets(
                "CPage CZlib Hearth HearthAssistant HearthClassification HearthDatabase \(routing) \(deliveryFloors)")
                + targets("CMicrohttpd CQRCode", server)),
        .target(
            name: "HearthCommand",
            dependencies: targets(
                "CDocuments CEdit CLicenses CMarkdown CTerminal Hearth HearthAssistant HearthClassification "
                    + "HearthDatabase HearthPublishing HearthServer \(routing) \(deliveryFloors)")),
        .executableTarget(name: "hearth", dependencies: ["HearthCommand"]),

        .target(
            name: "HearthTestSupport",
            dependencies: targets("HearthBase HearthCatalog HearthHTTP HearthInference HearthStore HearthTransfer")),
        // A child process that ends itself at a chosen moment.
        probe("CrashProbe", "CTerminal HearthBase HearthHTTP HearthTestSupport \(deliveryFloors)"),
        // A worker of the tests of worker processes.
        probe("WorkerProbe", "CProcess HearthBase HearthWorkers"),
        // Cuts lines into tokens with an imported vocabulary.
        probe(
            "TokenizerProbe", "HearthBase HearthImport HearthInference",
            more: targets("HearthLlama \(llamaLibraries == "" ? "" : "CLlama")", llama)),
        // Imports a folder of safetensors.
        probe("ImportProbe", "HearthBase HearthImport"),
        // Continues lists of tokens with MLX.
        probe("MLXProbe", "HearthBase HearthInference HearthMLX", more: targets("HearthLlama", mlx)),
        // An app whose downloads a played service of the system brings.
        probe("BackgroundProbe", "HearthBackground HearthBase HearthHTTP \(deliveryFloors)"),
        // Declares the names that Apple's FoundationModels and this package share.
        .target(name: "LookalikeModels", path: "Tests/Lookalike"),
        tests("HearthBase"),
        tests("HearthHTTP", "HearthBase"),
        tests("HearthCatalog", "HearthBase HearthHTTP"),
        tests("HearthTransfer", "HearthBase HearthHTTP"),
        tests("HearthStore", "HearthBase HearthCatalog"),
        tests("HearthDelivery", "HearthBase HearthCatalog HearthHTTP HearthStore HearthTransfer"),
        tests("HearthBackground", "HearthBase HearthHTTP \(deliveryFloors)"),
        tests("HearthPublishing", "HearthBase HearthHTTP \(deliveryFloors)"),
        tests("HearthImport", "HearthBase"),
        tests("HearthInference", "HearthBase LookalikeModels"),
        tests("HearthWorkers", "CProcess HearthBase HearthInference HearthWorkerProbe"),
        tests("HearthClassification", "HearthBase HearthInference"),
        tests("HearthRouting", "HearthBase HearthHTTP HearthInference"),
        tests("HearthDatabase", "HearthBase"),
        tests(
            "HearthAssistant", "HearthDatabase \(routing)", exclude: ["Words/sentences.tsv"]),
        tests("HearthLlama", "HearthBase HearthInference", more: targets(llamaLibraries, llama)),
        tests("HearthMLX", "HearthBase HearthImport HearthInference", more: targets("CMLX HearthLlama", mlx)),
        tests(
            "Hearth",
            "HearthAssistant HearthClassification \(routing) \(deliveryFloors)",
            more: targets("HearthLlama", llama)),
        // Plans of five apps, with the names and calls of their authors. It sees what an app sees.
        .testTarget(
            name: "SeedTests",
            dependencies: targets(
                "Hearth HearthAssistant HearthClassification \(routing) \(deliveryFloors)")
                + targets("HearthLlama", llama), path: "Tests/Seeds", packageAccess: false),
        tests(
            "HearthFoundationModels",
            "Hearth \(routing) \(deliveryFloors)"),
        tests(
            "HearthApple",
            "Hearth HearthAssistant HearthBase HearthClassification HearthDelivery HearthHTTP HearthInference"),
        tests(
            "HearthServer",
            "Hearth HearthAssistant HearthClassification HearthDatabase \(routing) \(deliveryFloors)"
        ),
        tests(
            "HearthCommand",
            "CTerminal Hearth HearthAssistant HearthClassification HearthCrashProbe HearthDatabase HearthPublishing "
                + "HearthServer hearth \(routing) \(deliveryFloors)",
            more: targets("HearthLlama", llama), exclude: ["Golden"]),
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
// The names of targets in C begin with C.
for target in package.targets
where [.regular, .executable, .test].contains(target.type) && !target.name.hasPrefix("C") {
    target.swiftSettings = (target.swiftSettings ?? []) + settings
}
