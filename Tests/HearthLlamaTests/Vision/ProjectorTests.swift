#if Llama
import Foundation
import HearthBase
import HearthInference
import HearthTestSupport
import Testing

@testable import HearthLlama

extension RealModel {
    /// The projector without a conversation.
    @Suite struct ProjectorTests {
        private static let configuration = LlamaConfiguration(contextLength: 512, threadCount: 1)

        /// The weights of the default model, read once: no projector changes them.
        private static let whole = Result { try read(TestModel.path) }

        private static func read(_ path: Path) throws -> ModelWeights {
            try ModelWeights(path: path, configuration: configuration) { _ in true }
        }

        private func weights(_ path: Path) throws -> ModelWeights {
            path == TestModel.path ? try Self.whole.get() : try Self.read(path)
        }

        private func projector(
            _ tiny: TestModel.Tiny = .projector, for path: Path = TestModel.path, cacheBytes: Int = 1 << 20
        ) throws -> Projector {
            try Projector(
                path: TestModel.path(tiny), weights: weights(path), configuration: Self.configuration,
                cacheBytes: cacheBytes)
        }

        private func failure(_ body: () throws -> Void) -> LLMError? {
            do {
                try body()
                return nil
            } catch {
                return error as? LLMError
            }
        }

        @Test(arguments: TestPictures.all.map(\.name)) func everyKindOfPictureIsEncoded(_ name: String) throws {
            let bytes = try #require(TestPictures.all.first { $0.name == name }?.bytes)
            let projector = try projector()
            let image = try ChatImage(bytes)
            #expect(try projector.parts(of: image).parts == [.picture(tokens: 16, positions: 16)])
            let (vectors, isNew) = try projector.encoded(image, part: 0)
            #expect(isNew)
            #expect(vectors.count == 16 * 576)
            #expect(vectors.contains { $0 != 0 })
            #expect(vectors.allSatisfy { $0.isFinite })
        }

        /// A projector that cuts pictures by their size respects the configured limits, and so does the count
        /// beforehand.
        @Test func aPicturesTokensHaveBounds() throws {
            func count(_ width: Int, _ height: Int, _ tokens: ImageTokens) throws -> Int {
                let weights = try weights(TestModel.path(.grid))
                var configuration = Self.configuration
                configuration.imageTokens = tokens
                let projector = try Projector(
                    path: TestModel.path(.gridProjector), weights: weights, configuration: configuration,
                    cacheBytes: 1 << 20)
                let image = try ChatImage(TestPictures.png(width: width, height: height))
                let counts = try projector.parts(of: image).parts.map { part in
                    if case .picture(let tokens, _) = part { tokens } else { 0 }
                }
                let sum = counts.reduce(0, +)
                let part = try #require(counts.firstIndex { $0 > 0 })
                #expect(try projector.encoded(image, part: part).vectors.count == sum * 64)
                return sum
            }
            let large = try count(280, 280, ImageTokens())
            #expect(large == 100)
            let bounded = try count(280, 280, ImageTokens(maximum: 36))
            #expect(bounded <= 36 && bounded >= 25)
            let enlarged = try count(28, 28, ImageTokens(minimum: 64))
            #expect(enlarged >= 64 && enlarged < 100)
        }

        @Test func contradictingBoundsAreCorrected() {
            #expect(ImageTokens(minimum: 100, maximum: 10) == ImageTokens(minimum: 10, maximum: 10))
            #expect(ImageTokens(minimum: -1, maximum: .max) == ImageTokens(minimum: 1, maximum: 65_536))
        }

        @Test func aPictureIsEncodedOnceAsLongAsThereIsRoom() throws {
            let red = try ChatImage(TestPictures.png(width: 20, height: 20))
            let blue = try ChatImage(TestPictures.png(width: 20, height: 20, red: 0, blue: 255))
            let roomy = try projector()
            let first = try roomy.encoded(red, part: 0)
            let second = try roomy.encoded(red, part: 0)
            #expect(first.isNew && !second.isNew)
            #expect(first.vectors == second.vectors)
            let other = try roomy.encoded(blue, part: 0)
            #expect(other.vectors != first.vectors)
            // Room for one picture.
            let narrow = try projector(cacheBytes: 16 * 576 * 4)
            for picture in [red, blue, red] {
                let (_, isNew) = try narrow.encoded(picture, part: 0)
                #expect(isNew)
            }
        }

        @Test func aPictureWithALongSideIsScaledDown() throws {
            let projector = try projector(.gridProjector, for: TestModel.path(.grid))
            // Four times as many pixels give no more tokens.
            let large = try projector.parts(of: ChatImage(TestPictures.png(width: 4096, height: 16)))
            let small = try projector.parts(of: ChatImage(TestPictures.png(width: 2048, height: 8)))
            #expect(large.parts == small.parts)
        }

        @Test func positionsWithSectionsTakeFewerPositionsThanTokens() throws {
            let projector = try projector(.gridProjector, for: TestModel.path(.grid))
            let parts = try projector.parts(of: ChatImage(TestPictures.png)).parts
            let picture = try #require(
                parts.compactMap { part in
                    if case .picture(let tokens, let positions) = part { (tokens, positions) } else { nil }
                }.first)
            #expect(picture.0 > picture.1)
            #expect(parts.count == 3, "this kind writes a word before and after each picture")
        }

        @Test func aMissingPartIsAnErrorAndNoCrash() throws {
            let projector = try projector()
            let picture = try ChatImage(TestPictures.png)
            for part in [-1, 1, 99] {
                #expect(throws: LLMError.self) { try projector.encoded(picture, part: part) }
            }
        }

        @Test func projectorsThatDoNotFitAreRefusedWithAReason() throws {
            let otherWidth = failure { _ = try projector(.gridProjector) }
            #expect(otherWidth?.code == .cannotLoad)
            #expect(otherWidth?.message.contains("n_embd") == true)
            let noProjector = failure { _ = try projector(.window) }
            #expect(noProjector?.code == .cannotLoad)
            let folder = try TemporaryFolder()
            let whole = try Data(contentsOf: URL(filePath: TestModel.path(.projector).string))
            let cut = try folder.write("cut.gguf", whole.prefix(100_000))
            let broken = failure {
                _ = try Projector(
                    path: cut, weights: weights(TestModel.path), configuration: Self.configuration, cacheBytes: 0)
            }
            #expect(broken?.code == .cannotLoad)
        }

        @Test func aPictureWhosePixelsDifferFromItsHeaderIsRefused() throws {
            // The number of bytes is correct, but a line has a filter that does not exist.
            let line: [UInt8] = [9] + [UInt8](repeating: 1, count: 30)
            let lines = Array(repeatElement(line, count: 10).joined())
            let image = try ChatImage(TestPictures.png(width: 10, height: 10, unpacked: lines))
            let error = failure { _ = try projector().encoded(image, part: 0) }
            #expect(error?.code == .cannotReadPicture)
        }
    }
}
#endif
