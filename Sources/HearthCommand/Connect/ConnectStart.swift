import Foundation
import HearthBase
import HearthServer

extension ProgramStart {
    /// Puts the program in the place of this process.
    /// - Throws: `FileError`.
    func replaceProcess() throws -> Never {
        // Signals are as the program would have found them in a shell.
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { signal(number, SIG_DFL) }
        var none = sigset_t()
        sigemptyset(&none)
        sigprocmask(SIG_SETMASK, &none, nil)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let arguments = ([program.string] + self.arguments).map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        execve(program.string, arguments, variables)
        let failure = errno
        for text in arguments + variables { free(text) }
        throw FileError(errno: failure, doing: "start", path: program)
    }
}
