import Foundation
import Hearth
import HearthBase
import Testing

@testable import HearthDelivery

/// What of a release Core ML opens, and whether it has to be compiled; by names alone.
@Suite struct CoreMLPackageTests {
    /// A release of files of 100 bytes, the first of which are the weights.
    private func release(_ names: [String], format: ModelFormat = .coreml) throws -> InstalledRelease {
        let files = try names.enumerated().map { index, name in
            Receipt.File(
                name: try #require(RelativePath(name)), role: index == 0 ? .weights : .other, size: 100,
                digest: SHA256Digest(hashing: Data(name.utf8)))
        }
        let identity = ReleaseIdentity(
            family: try #require(Family("leaf")), version: try #require(ReleaseVersion("1.0.0")), variant: nil)
        let remote = RemoteFile(name: files[0].name, size: .exact(100), digest: files[0].digest, locations: [])
        return InstalledRelease(
            identity: identity, folder: Path("/home/leaf"),
            receipt: Receipt(
                Release(identity: identity, id: "leaf", file: remote, format: format), files: files, isVerified: true,
                origin: nil, at: .now),
            isActive: true)
    }

    @Test(
        arguments: [
            // the files, what is opened, its kind, its bytes
            (
                [
                    "Leaf.mlpackage/Data/com.apple.CoreML/model.mlmodel", "Leaf.mlpackage/Manifest.json",
                    "Leaf.mlpackage/Data/com.apple.CoreML/weights/weight.bin", "labels.txt",
                ], "Leaf.mlpackage", .package, 300
            ),
            (["models/Leaf.MLPackage/Data/model.mlmodel", "labels.txt"], "models/Leaf.MLPackage", .package, 100),
            (["a.mlpackage/b.mlmodelc/coremldata.bin"], "a.mlpackage", .package, 100),
            (["Leaf.mlmodel", "labels.txt"], "Leaf.mlmodel", .model, 100),
            (["models/Leaf.mlmodel"], "models/Leaf.mlmodel", .model, 100),
            (["Leaf.mlmodel/model.mlmodel"], "Leaf.mlmodel/model.mlmodel", .model, 100),
            // As it came from a server that sent a package as one file.
            (["Leaf.mlpackage"], "Leaf.mlpackage", .package, 100),
            (
                ["Leaf.mlmodelc/coremldata.bin", "Leaf.mlmodelc/weights/weight.bin"], "Leaf.mlmodelc", .compiled, 200
            ),
        ] as [([String], String, CoreMLPackage.Kind, UInt64)])
    func whatCoreMLOpens(_ names: [String], _ place: String, _ kind: CoreMLPackage.Kind, _ size: UInt64) throws {
        let package = try #require(CoreMLPackage(try release(names)))
        #expect(package.place.string == place)
        #expect(package.path == Path("/home/leaf/\(place)"))
        #expect(package.kind == kind && package.size == size)
        #expect(package.isFolder == !names.contains(place))
    }

    @Test(arguments: [["weights.bin"], ["Leaf/model.bin", "Leaf.mlpackage/Manifest.json"], [".mlpackage/x"]])
    func whatSaysNothingIsNoPackage(_ names: [String]) throws {
        #expect(CoreMLPackage(try release(names)) == nil)
    }

    @Test func anotherFormatIsNoPackage() throws {
        #expect(CoreMLPackage(try release(["Leaf.mlmodel"], format: .onnx)) == nil)
    }

    @Test func whatIsCompiledIsMadeOfAllOfThePackage() throws {
        let package = try #require(
            CoreMLPackage(try release(["x/Leaf.v2.mlpackage/Data/model.mlmodel", "x/Leaf.v2.mlpackage/Manifest.json"])))
        let recipe = try #require(package.recipe(on: "15.1 (24B83)"))
        #expect(recipe.engine == "coreml" && recipe.engineVersion == "15.1 (24B83)")
        #expect(recipe.fileName == "Leaf.v2.mlmodelc" && recipe.product == .folder && recipe.expectedSize == 200)
        #expect(recipe.source == .folder(package.place))
        let model = try #require(CoreMLPackage(try release(["Leaf.mlmodel"])))
        let single = try #require(model.recipe(on: "15.1"))
        #expect(single.fileName == "Leaf.mlmodelc" && single.product == .folder && single.source == .weights)
    }

    @Test func whatIsCompiledAlreadyIsUsedAsItCame() throws {
        let package = try #require(CoreMLPackage(try release(["Leaf.mlmodelc/coremldata.bin"])))
        #expect(package.recipe(on: "15.1") == nil)
    }

    /// The files of an app may lie elsewhere than a release's would.
    @Test func whatCameWithTheAppIsOpenedWhereItLies() throws {
        let installed = try release(["Leaf.mlmodelc/coremldata.bin", "Leaf.mlmodelc/model.mil"])
        let files = installed.receipt.files.map { file in
            BundledRelease.File(
                name: file.name, role: file.role, path: Path("/app/Resources").appending(file.name), size: file.size,
                digest: nil)
        }
        let remote = RemoteFile(name: files[0].name, size: .exact(100), digest: nil, locations: [])
        let bundled = BundledRelease(
            release: Release(identity: installed.identity, id: "leaf", file: remote, format: .coreml), files: files)
        #expect(CoreMLPackage(bundled)?.path == Path("/app/Resources/Leaf.mlmodelc"))
    }
}
