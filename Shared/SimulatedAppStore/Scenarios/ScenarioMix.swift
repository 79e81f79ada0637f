import Foundation

/// Which scenarios are played, and how often.
struct ScenarioMix: Sendable {
    /// A purchase without a scenario.
    static let anything = "anything"

    private let scenarios: [(scenario: Scenario?, weight: Double)]
    private let sum: Double
    /// Whether there are also notifications about no purchase, such as TEST.
    let hasAppEvents: Bool

    private init(_ scenarios: [(scenario: Scenario?, weight: Double)], hasAppEvents: Bool) {
        self.scenarios = scenarios
        self.hasAppEvents = hasAppEvents
        sum = scenarios.reduce(0) { $0 + $1.weight }
    }

    /// Mostly purchases without a scenario, and each scenario now and then.
    static let everything = ScenarioMix(
        [(nil, 9)] + Scenario.mixed.map { ($0, 1 / Double(Scenario.mixed.count)) }, hasAppEvents: true)

    /// One scenario, repeatedly, and nothing else.
    static func only(_ scenario: Scenario) -> ScenarioMix { ScenarioMix([(scenario, 1)], hasAppEvents: false) }

    /// Reads `{"NAME": WEIGHT, …}`.
    /// - Throws: ``SimulatorError`` where it is something else, names an unknown scenario, or has no weight above 0.
    init(json: Data) throws {
        let weights: [String: Double]
        do { weights = try JSONDecoder().decode([String: Double].self, from: json) } catch {
            throw SimulatorError(#"a mix must be a JSON object like {"win-back": 2, "anything": 8}: \#(error)"#)
        }
        for (name, weight) in weights {
            guard name == Self.anything || Scenario.named(name) != nil else {
                throw SimulatorError("the mix names \(name), which is no scenario: see `simulator scenarios`")
            }
            guard weight.isFinite, weight >= 0 else { throw SimulatorError("the weight of \(name) must be 0 or more") }
        }
        let chosen = weights.filter { $0.value > 0 }.sorted { $0.key < $1.key }
        guard !chosen.isEmpty else {
            throw SimulatorError("the mix has no weight above 0: give one scenario a weight above 0")
        }
        self.init(chosen.map { (Scenario.named($0.key), $0.value) }, hasAppEvents: false)
    }

    /// - Returns: nil for a purchase that follows no scenario.
    func choose(using random: inout SeededRandom) -> Scenario? {
        guard scenarios.count > 1 else { return scenarios[0].scenario }
        var rest = random.fraction() * sum
        for (scenario, weight) in scenarios {
            rest -= weight
            if rest < 0 { return scenario }
        }
        return scenarios[scenarios.count - 1].scenario
    }
}
