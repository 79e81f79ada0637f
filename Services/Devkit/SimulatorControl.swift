import Commands
import StrictJSON

/// The control endpoints of a running simulator.
struct SimulatorControl: Sendable {
    /// Base URL.
    let address: String

    /// Whether everything was sent and no retries are pending; false while it does not respond.
    func isFinished() async -> Bool {
        guard let page = try? await HTTPPage(at: address + "/simulator/progress"), page.status == 200,
            let root = try? JSONDocument(Array(page.text.utf8)).root
        else { return false }
        return root["isFinished"]?.bool ?? false
    }
}
