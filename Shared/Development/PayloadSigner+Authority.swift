import AppStore

extension PayloadSigner {
    /// Signs as the leaf of a development authority.
    public init(authority: DevelopmentAuthority) {
        self.init(headerJSON: CompactJWS.headerJSON(x5c: authority.x5c), key: authority.leafKey)
    }
}
