/// The level of each product within its subscription group, as App Store Connect shows it: 1 is the highest.
///
/// Apple tells no server of the levels, so an operator does. A product without a level ranks below all that have one.
public struct ServiceLevels: Sendable, Equatable {
    private let levels: [String: Int]

    /// - Parameter levels: by product id.
    public init(_ levels: [String: Int] = [:]) { self.levels = levels }

    /// Nil where nobody said.
    public subscript(productId: String) -> Int? { levels[productId] }
}
