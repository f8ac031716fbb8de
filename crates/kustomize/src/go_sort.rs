//! The order in which Go's `sort.Sort` leaves what compares as equal: kustomize sorts lists of fields by their kind alone,
//! and what it does first then shows. It is a quicksort that looks for patterns; all of its decisions count here.

/// Up to this many are sorted by insertion, which leaves equals as they are.
const SHORT: usize = 12;
/// From here on a pivot is the median of nine, and items out of order are put right one by one.
const LONG: usize = 50;
/// How many items out of order are put right before giving up.
const MAX_SHIFTS: usize = 5;

pub(crate) fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    if items.len() <= SHORT {
        items.sort_by_cached_key(key);
        return;
    }
    let mut sorting = Sorting {
        keys: items.iter().map(key).enumerate().collect(),
    };
    let bad_pivots = items.len().ilog2() + 1;
    sorting.sort(0, items.len(), bad_pivots);
    let mut old: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(sorting.keys.iter().filter_map(|(at, _)| old[*at].take()));
}

struct Sorting<K> {
    /// Each with where it was.
    keys: Vec<(usize, K)>,
}

#[derive(PartialEq, Eq)]
enum Looks {
    Sorted,
    Reversed,
    Random,
}

impl<K: Ord> Sorting<K> {
    fn less(&self, a: usize, b: usize) -> bool {
        self.keys[a].1 < self.keys[b].1
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.keys.swap(a, b);
    }

    /// Sorts from `a` up to `b`. After too many bad pivots any other way is taken; no real list gets there.
    fn sort(&mut self, mut a: usize, mut b: usize, mut bad_pivots: u32) {
        let (mut was_balanced, mut was_partitioned) = (true, true);
        loop {
            let length = b - a;
            if length <= SHORT || bad_pivots == 0 {
                self.keys[a..b].sort_by(|a, b| a.1.cmp(&b.1));
                return;
            }
            if !was_balanced {
                self.scatter(a, b);
                bad_pivots -= 1;
            }
            let (mut pivot, mut looks) = self.pivot(a, b);
            if looks == Looks::Reversed {
                self.keys[a..b].reverse();
                pivot = (b - 1) - (pivot - a);
                looks = Looks::Sorted;
            }
            let try_insertion = was_balanced && was_partitioned && looks == Looks::Sorted;
            if try_insertion && self.insert_few(a, b) {
                return;
            }
            if a > 0 && !self.less(a - 1, pivot) {
                a = self.split_off_equals(a, b, pivot);
                continue;
            }
            let (middle, partitioned) = self.partition(a, b, pivot);
            was_partitioned = partitioned;
            let (left, right) = (middle - a, b - middle);
            was_balanced = left.min(right) >= length / 8;
            if left < right {
                self.sort(a, middle, bad_pivots);
                a = middle + 1;
            } else {
                self.sort(middle + 1, b, bad_pivots);
                b = middle;
            }
        }
    }

    fn pivot(&self, a: usize, b: usize) -> (usize, Looks) {
        let quarter = (b - a) / 4;
        let mut candidates = [a + quarter, a + quarter * 2, a + quarter * 3];
        let mut swaps = 0;
        if b - a >= LONG {
            for at in &mut candidates {
                *at = self.median([*at - 1, *at, *at + 1], &mut swaps);
            }
        }
        let middle = self.median(candidates, &mut swaps);
        let looks = match swaps {
            0 => Looks::Sorted,
            12 => Looks::Reversed,
            _ => Looks::Random,
        };
        (middle, looks)
    }

    fn median(&self, [mut a, mut b, mut c]: [usize; 3], swaps: &mut u32) -> usize {
        let mut order = |x: &mut usize, y: &mut usize| {
            if self.less(*y, *x) {
                *swaps += 1;
                std::mem::swap(x, y);
            }
        };
        order(&mut a, &mut b);
        order(&mut b, &mut c);
        order(&mut a, &mut b);
        b
    }

    /// What is less than the pivot comes before it. Says where the pivot is then, and whether that was so already.
    fn partition(&mut self, a: usize, b: usize, pivot: usize) -> (usize, bool) {
        self.swap(a, pivot);
        let (mut from, mut to) = (a + 1, b - 1);
        let mut partitioned = true;
        loop {
            while from <= to && self.less(from, a) {
                from += 1;
            }
            while from <= to && !self.less(to, a) {
                to -= 1;
            }
            if from > to {
                break;
            }
            self.swap(from, to);
            partitioned = false;
            from += 1;
            to -= 1;
        }
        self.swap(to, a);
        (to, partitioned)
    }

    /// Where nothing is less than the pivot: its equals come first. Says where they end.
    fn split_off_equals(&mut self, a: usize, b: usize, pivot: usize) -> usize {
        self.swap(a, pivot);
        let (mut from, mut to) = (a + 1, b - 1);
        loop {
            while from <= to && !self.less(a, from) {
                from += 1;
            }
            while from <= to && self.less(a, to) {
                to -= 1;
            }
            if from > to {
                return from;
            }
            self.swap(from, to);
            from += 1;
            to -= 1;
        }
    }

    /// Whether it is sorted after a few items have been put in their places.
    fn insert_few(&mut self, a: usize, b: usize) -> bool {
        let mut at = a + 1;
        for _ in 0..MAX_SHIFTS {
            while at < b && !self.less(at, at - 1) {
                at += 1;
            }
            if at == b {
                return true;
            }
            if b - a < LONG {
                return false;
            }
            self.swap(at, at - 1);
            if at - a >= 2 {
                let mut down = at - 1;
                while down >= 1 && self.less(down, down - 1) {
                    self.swap(down, down - 1);
                    down -= 1;
                }
            }
            let mut up = at + 1;
            while up < b && self.less(up, up - 1) {
                self.swap(up, up - 1);
                up += 1;
            }
        }
        false
    }

    /// Moves three items to places that only depend on the length.
    fn scatter(&mut self, a: usize, b: usize) {
        let length = b - a;
        let mask = length.next_power_of_two() * if length.is_power_of_two() { 2 } else { 1 } - 1;
        let mut random = length as u64;
        let middle = a + length / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut other = usize::try_from(random & mask as u64).unwrap_or(0);
            if other >= length {
                other -= length;
            }
            self.swap(at, a + other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many items, how their keys are made, and a sum over the order that Go 1.26 leaves them in.
    const BY_GO: &[(usize, u8, u64)] = &[
        (13, 0, 0x1df7_a853_2830_e589),
        (13, 1, 0xb961_37ea_2d10_008f),
        (13, 2, 0x8509_aefe_c10d_dc31),
        (13, 3, 0xb961_37ea_2d10_008f),
        (13, 4, 0x3d7b_d49f_6080_a897),
        (20, 0, 0x065c_a8e7_49a8_1015),
        (20, 1, 0xcc92_7f6e_e23a_0f61),
        (20, 2, 0x1205_05ef_2e8c_ab97),
        (20, 3, 0x257d_3b60_29bd_9541),
        (20, 4, 0xb8f6_a2aa_0359_1459),
        (37, 0, 0x5d7e_3376_6d46_0a1f),
        (37, 1, 0x2fd7_8cf8_487d_4aef),
        (37, 2, 0xf25b_1bfb_89d7_f581),
        (37, 3, 0x8a24_bbff_4764_d4f1),
        (37, 4, 0x44e6_b9fd_390c_d5ab),
        (49, 0, 0x7813_1e3c_ffd7_1319),
        (49, 1, 0x360a_5c9d_3b1b_f95f),
        (49, 2, 0x3504_b912_7bd9_c9cb),
        (49, 3, 0x735e_b657_0223_4593),
        (49, 4, 0x2183_f9be_c622_9c6f),
        (50, 0, 0x6c52_15d6_694c_1240),
        (50, 1, 0xef94_cd2b_7088_d5ea),
        (50, 2, 0x428a_23be_58d8_96b6),
        (50, 3, 0x19ad_39ae_2e1c_dd0c),
        (50, 4, 0x9442_7e0d_18d0_9366),
        (72, 0, 0x7624_ada0_7f05_ba43),
        (72, 1, 0x4825_2b6b_285e_883d),
        (72, 2, 0xd8be_e75a_b8d2_08ff),
        (72, 3, 0x435d_d5ea_684f_c7ad),
        (72, 4, 0x3822_9f7d_fc09_e603),
        (100, 0, 0x83da_4952_7407_d3cd),
        (100, 1, 0xfb5c_8cec_60d8_3ab1),
        (100, 2, 0x92ef_d501_594b_7b6b),
        (100, 3, 0x300f_68e6_799f_38cf),
        (100, 4, 0xa21e_1b7e_0008_b7dd),
        (300, 0, 0xd67a_3318_a22d_b3e3),
        (300, 1, 0xf90b_c441_25dc_3a99),
        (300, 2, 0xb197_ea5f_3551_0e31),
        (300, 3, 0xc537_2308_ec38_ba7d),
        (300, 4, 0x67e2_30e7_c67a_5421),
    ];

    #[test]
    fn equals_end_up_where_go_leaves_them() {
        for &(count, mode, wanted) in BY_GO {
            let mut random = count as u64 * 7 + u64::from(mode) + 1;
            let mut items: Vec<(u64, u64)> = Vec::new();
            let n = count as u64;
            for at in 0..n {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let key = match mode {
                    0 => random % 7,
                    1 => at / 3,
                    2 => (n - at) / 4,
                    3 if at >= n - 2 => random % 9,
                    3 => at / 5,
                    _ => random % n,
                };
                items.push((key, at));
            }
            sort_by_key(&mut items, |it| it.0);
            assert!(items.is_sorted_by_key(|it| it.0));
            let sum = items.iter().fold(0xcbf2_9ce4_8422_2325_u64, |sum, it| {
                (sum ^ it.1).wrapping_mul(0x0100_0000_01b3)
            });
            assert_eq!(sum, wanted, "{count} items, mode {mode}");
        }
    }
}
