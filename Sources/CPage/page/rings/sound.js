// The sound of a ring, computed here: two soft tones. A browser plays it only after the person has used the page.
let context = null;

/// Plays the sound once.
export function play() {
    if (navigator.userActivation && !navigator.userActivation.hasBeenActive) return;
    try {
        context ??= new AudioContext();
        for (const [start, pitch] of [[0, 660], [0.28, 880]]) tone(context.currentTime + start, pitch);
    } catch (error) {
        // A device without sound still shows the ring.
        console.debug(error);
    }
}

function tone(start, pitch) {
    const source = new OscillatorNode(context, { frequency: pitch });
    const volume = new GainNode(context, { gain: 0 });
    volume.gain.setValueAtTime(0.0001, start);
    volume.gain.exponentialRampToValueAtTime(0.2, start + 0.03);
    volume.gain.exponentialRampToValueAtTime(0.0001, start + 0.5);
    source.connect(volume).connect(context.destination);
    source.start(start);
    source.stop(start + 0.55);
}
