import ArgumentParser
import AsyncHTTPClient

/// `storekeeper healthcheck`: for containers, which have no shell and no curl.
struct Healthcheck: Verb {
    static let configuration = CommandConfiguration(
        commandName: "healthcheck", abstract: "Ask a service whether it is well.",
        discussion: "Prints what the service answers. Exits 0 if the status is 200 to 299, else 1.")

    @Argument(help: "For example http://127.0.0.1:9101/readyz")
    var url: String

    @Option(help: "Seconds to wait for the answer.")
    var timeout = Seconds(3)

    func run(in surroundings: Surroundings) async throws {
        let page: Page
        do {
            page = try await Page(at: url, within: timeout.duration)
        } catch {
            throw Failure("\(url) does not answer: \(error)")
        }
        surroundings.print(page.text.split(separator: "\n").map { String($0).visible }.joined(separator: "\n"))
        if !(200...299).contains(page.status) { throw Exit.failed.code }
    }
}
