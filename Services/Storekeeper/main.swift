import ArgumentParser
import Foundation

do {
    var command = try CommandLineTool.parseAsRoot()
    // What is no verb is a request for help, which the parser answers itself.
    guard let verb = command as? any Verb else {
        try command.run()
        exit(0)
    }
    try await verb.run(
        in:
            Surroundings(
                now: { Date() }, seed: { .random(in: 1...999_999) }, executable: Bundle.main.executablePath))
} catch {
    CommandLineTool.exit(withError: error)
}
