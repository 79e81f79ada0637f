#if canImport(Glibc)
    import func Glibc.memcmp
#elseif canImport(Darwin)
    import func Darwin.memcmp
#endif

extension ArraySlice<UInt8> {
    /// Equality at memory speed; the standard library's compares element by element.
    func hasSameBytes(as other: ArraySlice<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { one in
            other.withUnsafeBytes { other in
                guard let left = one.baseAddress, let right = other.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
    }
}
