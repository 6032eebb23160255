package import CLocalData

extension StorageNamespace {
    /// The place that the other side means.
    package init(_ place: UnsafePointer<ld_namespace>?) throws {
        guard let place, let domain = place.pointee.domain.text, let scope = place.pointee.scope.text,
            let directory = place.pointee.directory.text
        else { throw StorageError(.invalidAddress, "a place at the plugin boundary is missing or is not UTF-8") }
        self.init(domain: domain, scope: scope, directory: directory.isEmpty ? nil : directory)
        try validate()
    }

    /// Lends the place to the other side for the time of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_namespace>) -> ld_status) -> ld_status {
        domain.withBytes { domain in
            scope.withBytes { scope in
                (directory ?? "").withBytes { directory in
                    var place = ld_namespace(
                        size: UInt32(MemoryLayout<ld_namespace>.size), domain: domain, scope: scope,
                        directory: directory)
                    return body(&place)
                }
            }
        }
    }
}

extension StorageAddress {
    /// The address that the other side means.
    package init(_ address: ld_address) throws {
        guard let name = address.name.text else {
            throw StorageError(.invalidAddress, "a name at the plugin boundary is not UTF-8")
        }
        self.init(try StorageNamespace(address.place), name: name)
        try validate()
    }

    /// Lends the address to the other side for the time of `body`.
    package func withBoundary(_ body: (UnsafePointer<ld_address>) -> ld_status) -> ld_status {
        place.withBoundary { place in
            name.withBytes { name in
                var address = ld_address(size: UInt32(MemoryLayout<ld_address>.size), place: place, name: name)
                return body(&address)
            }
        }
    }
}

extension ValueAttributes {
    /// The attributes that the other side means; text that is not UTF-8 counts as unknown.
    package init(_ attributes: UnsafePointer<ld_attributes>) {
        var known = ld_attributes()
        let size = min(Int(attributes.pointee.size), MemoryLayout<ld_attributes>.size)
        withUnsafeMutableBytes(of: &known) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: attributes, count: size))
        }
        func text(_ bytes: ld_bytes) -> String? { bytes.count == 0 ? nil : bytes.text }
        self.init(
            contentType: text(known.content_type), serializer: text(known.serializer),
            versionTag: text(known.version_tag), appVersion: text(known.app_version), owner: text(known.owner),
            size: known.value_size, modified: known.modified == 0 ? nil : known.modified)
    }

    /// Lends the attributes to the other side for the time of `body`, which is not generic: a generic one would not be
    /// specialized for a caller in another module, and take most of the time of a `set`.
    package func withBoundary(_ body: (UnsafePointer<ld_attributes>) -> ld_status) -> ld_status {
        (contentType ?? "").withBytes { contentType in
            (serializer ?? "").withBytes { serializer in
                (versionTag ?? "").withBytes { versionTag in
                    (appVersion ?? "").withBytes { appVersion in
                        (owner ?? "").withBytes { owner in
                            var attributes = ld_attributes(
                                size: UInt32(MemoryLayout<ld_attributes>.size), content_type: contentType,
                                serializer: serializer, version_tag: versionTag, app_version: appVersion, owner: owner,
                                value_size: size ?? 0, modified: modified ?? 0)
                            return body(&attributes)
                        }
                    }
                }
            }
        }
    }
}
