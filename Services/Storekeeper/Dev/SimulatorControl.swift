import StrictJSON

/// What a running simulator says of itself, and what it can be told, beside Apple's API.
struct SimulatorControl: Sendable {
    /// Without a path.
    let address: String

    /// Whether everything was sent and nothing waits to be sent again; false while it does not answer.
    func isFinished() async -> Bool {
        guard let page = try? await HTTPPage(at: address + "/simulator/progress"), page.status == 200,
            let root = try? JSONDocument(Array(page.text.utf8)).root
        else { return false }
        return root["isFinished"]?.bool ?? false
    }
}
