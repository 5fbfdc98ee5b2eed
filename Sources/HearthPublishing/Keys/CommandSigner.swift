import Foundation
import HearthBase
import HearthCatalog

/// Signs with a key that a program holds, such as one on a hardware token.
///
/// The program gets the bytes to sign on its standard input and prints the signature in hexadecimal digits; its messages
/// go to the terminal, where it may ask for a PIN. It has two minutes.
package struct CommandSigner: MetadataSigner {
    package let key: MetadataKey
    /// The program, looked for in `PATH`, and its arguments.
    let words: [String]
    let environment: [String: String]

    package init(key: MetadataKey, words: [String], environment: [String: String]) {
        (self.key, self.words, self.environment) = (key, words, environment)
    }

    private static let limit = Duration.seconds(120)

    package func signature(of message: Data) throws(TrustError) -> [UInt8] {
        let program = AnsweringProgram(
            words, environment: environment, limit: Self.limit,
            maximumOutput: 4 * SignatureScheme.maximumSignatureLength)
        let answer: AnsweringProgram.Answer
        do {
            answer = try program.answer(to: message)
        } catch AnsweringProgram.Failure.noAnswer {
            throw failure("gave no signature within \(Self.limit.components.seconds) seconds")
        } catch {
            throw failure("cannot be run", underlying: error)
        }
        guard answer.status == 0 else { throw failure("failed, with the status \(answer.status)") }
        let text = String(decoding: answer.output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard let bytes = [UInt8](hexadecimal: text), !bytes.isEmpty else {
            throw failure("printed no signature in hexadecimal digits")
        }
        return bytes
    }

    private func failure(_ problem: String, underlying: (any Error)? = nil) -> TrustError {
        TrustError(
            .badKey, "the signing command \(words[0].quoted) \(problem)",
            context: ErrorContext(
                found: key.id,
                remedy: "It gets the bytes to sign on its input, and prints the signature in hexadecimal digits."),
            underlying: underlying)
    }
}
