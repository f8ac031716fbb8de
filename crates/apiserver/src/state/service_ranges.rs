//! Where Services get their addresses and node ports from.

use std::net::{IpAddr, Ipv4Addr};

/// Where Services get their addresses and ports from.
#[derive(Clone, Copy, Debug)]
pub struct ServiceRanges {
    /// `--service-cluster-ip-range`
    pub network: (Ipv4Addr, u8),
    /// `--service-node-port-range`, both ends included.
    pub ports: (u16, u16),
}

impl Default for ServiceRanges {
    fn default() -> Self {
        Self {
            network: (Ipv4Addr::new(10, 96, 0, 0), 16),
            ports: (30000, 32767),
        }
    }
}

impl ServiceRanges {
    /// The address of the API server's own Service.
    pub fn first(&self) -> Ipv4Addr {
        Ipv4Addr::from(u32::from(self.network.0) + 1)
    }

    pub(crate) fn count(&self) -> u32 {
        1_u32
            .checked_shl(32 - u32::from(self.network.1))
            .unwrap_or(u32::MAX)
    }

    pub(crate) fn contains(&self, ip: IpAddr) -> bool {
        let IpAddr::V4(ip) = ip else {
            return false;
        };
        let offset = u32::from(ip).wrapping_sub(u32::from(self.network.0));
        offset > 0 && offset < self.count() - 1
    }
}
