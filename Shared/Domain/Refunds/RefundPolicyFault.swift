/// Why a policy is not accepted: everything that is wrong with it.
package struct RefundPolicyFaults: Error, Sendable, Equatable, CustomStringConvertible {
    package var faults: [Fault]

    /// One thing that is wrong.
    package struct Fault: Sendable, Equatable, CustomStringConvertible {
        /// `rule 2 “used up”`; nil for what is not about a rule.
        package var rule: String?
        /// The path of the field, such as `if.usage.atLeast`.
        package var field: String
        /// What is wrong and what to write instead.
        package var problem: String

        package var description: String {
            [rule, field.isEmpty ? nil : field].compactMap(\.self).joined(separator: ", ") + ": \(problem)"
        }
    }

    package var description: String { faults.map(\.description).joined(separator: "\n") }
}
