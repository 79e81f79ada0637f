import ArgumentParser
import AsyncHTTPClient
import Contracts
import Foundation

/// `simulator run`: many subscriptions live, each step is posted.
struct RunCommand: SimulatorWork {
    static let configuration = CommandConfiguration(
        commandName: "run", abstract: "Let many subscriptions live and post each step.")

    @Option(help: "Where to post, e.g. http://127.0.0.1:8080/v1/notifications")
    var target: String

    @Option(help: "File to which a line is appended for every notification and every answer (JSON lines).")
    var book: String?

    @Option(help: "Seconds until an attempt counts as timed out.")
    var timeout = 5.0

    @Option(help: #"Page that answers {"waiting": N}; nothing is sent while N is --max-waiting or more."#)
    var paceURL: String?

    @Option(help: "See --pace-url.")
    var maxWaiting = 4_000

    @Flag(help: "End with a JSON object instead of a sentence.")
    var json = false

    @OptionGroup(title: "The run")
    var options: RunOptions

    @OptionGroup(title: "The signatures")
    var signing: SigningOptions

    func validate() throws {
        try Target.validate(target, as: "--target")
        if let paceURL { try Target.validate(paceURL, as: "--pace-url") }
        if timeout <= 0 { throw ValidationError("--timeout must be above 0") }
    }

    func run(in surroundings: Surroundings) async throws {
        let plan = options.plan(for: signing.apps)
        let present = options.now.map { Date(milliseconds: $0) }
        let now: @Sendable () -> Date = { present ?? surroundings.now() }
        let writer = try signing.letterWriter(now: surroundings.now())
        let bookWriter = try book.map { try BookWriter(path: $0) }
        let client = Target.client(concurrency: plan.concurrency)
        let backlog = paceURL.map { Backlog(client: client, url: $0, limit: maxWaiting) }
        let simulate = Simulate(
            plan: plan, writer: writer, target: Target(client: client, url: target, timeout: .seconds(timeout)),
            book: bookWriter, backlog: backlog, stop: surroundings.stop, present: now, now: surroundings.now)
        let result: Result<Tally, any Error>
        do { result = .success(try await simulate.run()) } catch { result = .failure(error) }
        try await client.shutdown()
        try bookWriter?.close()
        let tally = try result.get()
        print(json ? try tally.json() : tally.sentence)
        if tally.givenUp > 0 { throw ExitCode.failure }
    }
}
