"""Wrong and odd inputs without end, made of right ones: the answer is always a result or a refusal.

cases       what can be asked: a run, a fluid solution, a study, a room; drawn from a seed
trees       how right trees and texts become odd ones; values has the odd values
pairs       every pair of extreme settings of each controller and queue, in few scenarios
rooms       rooms of papers in a temporary folder
examine     asks, and looks at the answer
absurd      what no answer may hold
limits      time and memory
smallest    what is left of an input that fails, once all that can be is left out
hunt        draws, examines and counts, in one process or in several
"""
