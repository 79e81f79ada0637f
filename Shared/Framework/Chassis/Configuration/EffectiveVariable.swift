/// A variable and its effective value, as far as it may be shown.
public struct EffectiveVariable: Sendable, Hashable {
    /// Its name; one that ends in `*` stands for all with this prefix.
    public var name: String
    /// No secret; nil where it is neither set nor has a default. Of a name that ends in `*`, the names that are set.
    public var value: String?
    /// Whether it is not set.
    public var isDefault: Bool
}

extension VariableTable {
    /// The effective values in an environment, in the order of the table, whether they can be read or not.
    public func effective(in environment: [String: String]) -> [EffectiveVariable] {
        let reader = EnvironmentReader(environment)
        return variables.map { variable in
            let isGiven =
                variable.name.wildcardPrefix.map { !reader.names(withPrefix: $0).isEmpty }
                ?? (reader.text(of: variable.name) != nil)
            return EffectiveVariable(name: variable.name, value: variable.shown(in: reader), isDefault: !isGiven)
        }
    }
}
