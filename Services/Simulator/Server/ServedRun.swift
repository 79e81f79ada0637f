import Foundation
import Hummingbird

/// A run with Apple's API beside it: both end when the sending does, and neither goes on without the other.
struct ServedRun: Sendable {
    private enum End: Sendable {
        case sent(Tally)
        case served((any Error)?)
    }

    let simulate: Simulate
    let server: StoreServer
    let host: String
    let port: Int
    let portFile: String?

    /// - Throws: where the address cannot be listened on, beside what ``Simulate/run()`` throws.
    func run() async throws -> Tally {
        let portFile = portFile
        let application = server.application(host: host, port: port) { port in
            guard let portFile else { return }
            do { try Data("\(port)\n".utf8).write(to: URL(fileURLWithPath: portFile), options: .atomic) } catch {
                let text = "simulator: the port cannot be written to \(portFile): \(error)\n"
                FileHandle.standardError.write(Data(text.utf8))
            }
        }
        return try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask { .sent(try await simulate.run()) }
            group.addTask {
                do { try await application.run() } catch { return .served(error) }
                return .served(nil)
            }
            switch try await group.next() {
            case .sent(let tally):
                // The server calls its cancellation an error.
                group.cancelAll()
                return tally
            case .served(let error):
                simulate.stop.turnOn()
                throw Failure(
                    "the API does not answer on \(host):\(port) any more: is the port taken? "
                        + (error.map { "(\($0))" } ?? ""))
            case nil: throw Failure("neither the sending nor the API began")
            }
        }
    }
}
