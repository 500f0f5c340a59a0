//! A small neural network: matrices and the functions between them.

use longfat_units::math;
use thiserror::Error;

/// What a layer does to its sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Nothing.
    Linear,
    /// The hyperbolic tangent.
    Tanh,
    /// What is negative becomes 0.
    Relu,
}

impl Activation {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Tanh, Self::Relu];

    /// The name that selects it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Tanh => "tanh",
            Self::Relu => "relu",
        }
    }

    fn of(self, sum: f64) -> f64 {
        match self {
            Self::Linear => sum,
            Self::Tanh => math::tanh(sum),
            Self::Relu => sum.max(0.0),
        }
    }
}

/// One layer: f(W x + b).
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    /// W: a row of weights for each output.
    pub weights: Vec<Vec<f64>>,
    /// b: a number for each output.
    pub bias: Vec<f64>,
    /// f.
    pub activation: Activation,
}

/// Layers, one after the other; the last one has a single output.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    layers: Vec<Layer>,
    inputs: usize,
    /// The widest layer, inputs included.
    widest: usize,
}

/// Why layers make no network.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum NetworkError {
    /// None, or too many.
    #[error("it has {0} layers: from 1 to {MOST_LAYERS} are needed")]
    Layers(usize),
    /// A layer without outputs, or with too many.
    #[error("layer {layer} has {outputs} rows of weights: from 1 to {MOST_OUTPUTS} are needed")]
    Outputs {
        /// Which, from 1.
        layer: usize,
        /// How many.
        outputs: usize,
    },
    /// Shapes that do not fit.
    #[error("layer {layer} has {found} {what}, and {expected} are needed: {why}")]
    Shape {
        /// Which, from 1.
        layer: usize,
        /// What does not fit.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many are needed.
        expected: usize,
        /// Why.
        why: &'static str,
    },
    /// A weight that cannot be computed with.
    #[error("layer {layer} has the weight {weight:e}: finite numbers up to {LARGEST:e} are needed")]
    Weight {
        /// Which, from 1.
        layer: usize,
        /// The weight.
        weight: f64,
    },
}

const MOST_LAYERS: usize = 8;
const MOST_OUTPUTS: usize = 1024;
/// Eight layers of it stay finite.
const LARGEST: f64 = 1e6;

impl Network {
    /// These layers, for so many inputs.
    ///
    /// # Errors
    /// If shapes do not fit, or a weight is not finite.
    pub fn new(inputs: usize, layers: Vec<Layer>) -> Result<Self, NetworkError> {
        if layers.is_empty() || layers.len() > MOST_LAYERS {
            return Err(NetworkError::Layers(layers.len()));
        }
        let mut expected = inputs;
        let mut widest = inputs;
        for (index, each) in layers.iter().enumerate() {
            let layer = index + 1;
            let outputs = each.weights.len();
            if outputs == 0 || outputs > MOST_OUTPUTS {
                return Err(NetworkError::Outputs { layer, outputs });
            }
            let shape = |what, found, expected, why| NetworkError::Shape {
                layer,
                what,
                found,
                expected,
                why,
            };
            for row in &each.weights {
                if row.len() != expected {
                    let why = if index == 0 {
                        "one for each observed number"
                    } else {
                        "one for each output of the layer before"
                    };
                    return Err(shape("weights in a row", row.len(), expected, why));
                }
            }
            if each.bias.len() != outputs {
                return Err(shape(
                    "biases",
                    each.bias.len(),
                    outputs,
                    "one for each row of weights",
                ));
            }
            if layer == layers.len() && outputs != 1 {
                return Err(shape("rows of weights", outputs, 1, "a decision is a single number"));
            }
            let mut numbers = each.weights.iter().flatten().chain(&each.bias);
            if let Some(&weight) = numbers.find(|weight| weight.is_nan() || weight.abs() > LARGEST)
            {
                return Err(NetworkError::Weight { layer, weight });
            }
            expected = outputs;
            widest = widest.max(outputs);
        }
        Ok(Self { layers, inputs, widest })
    }

    /// How many numbers it takes.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Its output for these inputs, which are worked out in this order of additions on every machine.
    pub fn output(&self, inputs: &[f64]) -> f64 {
        debug_assert_eq!(inputs.len(), self.inputs, "checked by the caller");
        let mut values = Vec::with_capacity(self.widest);
        values.extend_from_slice(inputs);
        let mut next = Vec::with_capacity(self.widest);
        for layer in &self.layers {
            next.clear();
            for (row, bias) in layer.weights.iter().zip(&layer.bias) {
                let sum = row.iter().zip(&values).fold(*bias, |sum, (w, x)| sum + w * x);
                next.push(layer.activation.of(sum));
            }
            std::mem::swap(&mut values, &mut next);
        }
        values[0]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(weights: &[&[f64]], bias: &[f64], activation: Activation) -> Layer {
        Layer {
            weights: weights.iter().map(|row| row.to_vec()).collect(),
            bias: bias.to_vec(),
            activation,
        }
    }

    #[test]
    fn two_layers_by_hand() {
        let hidden = layer(&[&[1.0, -2.0], &[0.5, 0.5]], &[0.5, 0.0], Activation::Relu);
        let last = layer(&[&[2.0, 4.0]], &[-1.0], Activation::Linear);
        let network = Network::new(2, vec![hidden, last]).expect("it fits");
        // Hidden: max(0, 1·3 - 2·1 + 0.5) = 1.5 and 2; then 3 + 8 - 1.
        assert_eq!(network.output(&[3.0, 1.0]), 10.0);
        assert_eq!(network.output(&[0.0, 1.0]), 1.0);
        let tanh =
            Network::new(1, vec![layer(&[&[1.0]], &[0.0], Activation::Tanh)]).expect("it fits");
        assert!((tanh.output(&[0.5]) - 0.462_117_157_260_009_8).abs() < 1e-15);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let one = || layer(&[&[1.0, 2.0]], &[0.0], Activation::Tanh);
        assert_eq!(Network::new(2, vec![]), Err(NetworkError::Layers(0)));
        let refused = |inputs, layers: Vec<Layer>| {
            Network::new(inputs, layers).expect_err("it does not fit").to_string()
        };
        assert!(refused(3, vec![one()]).contains("2 weights in a row, and 3 are needed"));
        assert!(refused(2, vec![one(), one()]).contains("one for each output of the layer before"));
        let wide = layer(&[&[1.0], &[1.0]], &[0.0, 0.0], Activation::Tanh);
        assert!(refused(1, vec![wide]).contains("a decision is a single number"));
        let unfinished = layer(&[&[f64::NAN]], &[0.0], Activation::Tanh);
        assert!(refused(1, vec![unfinished]).contains("the weight NaN"));
    }
}
