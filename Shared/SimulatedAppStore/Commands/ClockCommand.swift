import ArgumentParser
import Foundation
import StrictJSON

/// `simulator clock`: shows or moves the clock of a running simulator.
struct ClockCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "clock", abstract: "Show or move the clock of a running simulator.",
        discussion: """
            Everything that time brings to purchases made by `simulator buy` happens then, and is sent in its order. Under \
            `storekeeper dev` all services follow; other receivers have to accept what is signed later than their own clock says.

            Example: simulator clock advance 31d
            """,
        subcommands: [ClockShow.self, ClockAdvance.self], defaultSubcommand: ClockShow.self)
}

/// `simulator clock show`
struct ClockShow: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the simulator's time.", discussion: "Example: simulator clock")

    @OptionGroup var options: ClientOptions

    func run(in context: CommandContext) async throws {
        let answer = try await options.client(in: context).ask("GET", "clock")
        print(options.json ? String(decoding: answer.bytes, as: UTF8.self) : ClockAdvance.sentence(answer.root))
    }
}

/// `simulator clock advance`
struct ClockAdvance: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "advance", abstract: "Move the simulator's clock forward.",
        discussion: """
            Returns once everything that happened in that time was sent. The clock never goes back, and in all 400 days forward.

            Examples:
              simulator clock advance 31d
              simulator clock advance 1d12h
            """)

    @Argument(help: "How far: a number with s, m, h, d or w.")
    var duration: String

    @OptionGroup var options: ClientOptions

    func validate() throws {
        if SimulatedClock.seconds(duration) == nil {
            throw ValidationError(
                "\(duration) is no duration: give a number with s, m, h, d or w, such as 31d or 1d12h")
        }
    }

    func run(in context: CommandContext) async throws {
        let client = try options.client(in: context)
        let body = APIAnswer { $0.member("advance", duration) }.body
        let answer = try await Self.waitUntilSent(client, after: try await client.ask("POST", "clock", body))
        print(options.json ? String(decoding: answer.bytes, as: UTF8.self) : Self.sentence(answer.root))
    }

    /// Waits until the receiver has answered everything about purchases by command.
    /// - Parameter answer: of the clock; nil asks for it.
    /// - Returns: the last answer of the clock.
    /// - Throws: ``SimulatorError`` where it takes minutes.
    @discardableResult
    static func waitUntilSent(_ client: SimulatorClient, after answer: JSONDocument? = nil) async throws -> JSONDocument
    {
        var answer = if let answer { answer } else { try await client.ask("GET", "clock") }
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(300)
        while (answer.root["waiting"]?.int64 ?? 0) > 0 {
            guard clock.now < deadline else {
                throw SimulatorError("the receiver does not take what happened: does it answer?")
            }
            try await clock.sleep(for: .milliseconds(50))
            answer = try await client.ask("GET", "clock")
        }
        return answer
    }

    static func sentence(_ root: JSONValue) -> String {
        let time = ClientOptions.time(root["now"]) ?? ""
        let ahead = SimulatedClock.words(Double(root["aheadMilliseconds"]?.int64 ?? 0) / 1000)
        return "\(time), \(ahead) ahead; "
            + "\(root["sent"]?.int64 ?? 0) notifications about bought purchases were sent"
    }
}
