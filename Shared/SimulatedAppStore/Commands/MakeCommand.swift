import ArgumentParser
import Foundation

/// `simulator make`: prints one signed notification of a kind.
struct MakeCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "make", abstract: "Print one signed notification.",
        discussion: """
            Prints the request body as Apple posts it, ready for `simulator send -` or curl.

            Example: simulator make --case expired --authority authority | simulator send - --target URL
            """)

    @Option(
        name: .customLong("case"),
        help: "Kind of notification: \(SampleCase.allCases.map(\.rawValue).joined(separator: ", ")).")
    var sampleCase: SampleCase

    @Flag(help: "Print the signed payload without the request body around it.")
    var bare = false

    @Option(help: "Random seed; each gives another customer.")
    var seed: UInt64 = 1

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func run(in context: CommandContext) async throws {
        let now = context.now()
        guard let app = signing.apps.first else { throw ValidationError("--app is missing") }
        let jws = try sampleCase.signed(by: try signing.notificationSigner(now: now), for: app, seed: seed, now: now)
        let text = bare ? jws : NotificationSigner.body(signedPayload: jws)
        print(String(decoding: text, as: UTF8.self))
    }
}

extension SampleCase: ExpressibleByArgument {}
