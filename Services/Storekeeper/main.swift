import ArgumentParser
import Foundation

do {
    let command = try CommandLineTool.parseAsRoot()
    guard let verb = command as? any Verb else { throw CleanExit.helpRequest() }
    try await verb.run(
        in:
            Surroundings(
                now: { Date() }, seed: { .random(in: 1...999_999) }, executable: Bundle.main.executablePath))
} catch {
    CommandLineTool.exit(withError: error)
}
