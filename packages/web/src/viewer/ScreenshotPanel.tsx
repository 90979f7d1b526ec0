import { Button, NativeSelect, Progress, SegmentedControl, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useEscape } from '../browser/use-escape.ts';
import panel from './colours/ColourPanel.module.css';
import type { PictureType } from './screenshot.ts';
import { texts } from './texts.ts';

/** A picture larger than this is refused: browsers limit canvases, and a PNG of tissue has two bytes a pixel. */
const mostPixels = 100_000_000;

export interface PictureChoice {
  /** Such as `20×`. */
  readonly label: string;
  /** Pixels of the picture per CSS pixel of the viewer. */
  readonly ratio: number;
}

export interface PictureOrder extends PictureChoice {
  readonly type: PictureType;
  readonly signal: AbortSignal;
  /** @param part 0 to 1 */
  readonly onProgress: (part: number) => void;
}

export interface ScreenshotPanelProps {
  /** CSS pixels of the viewer. */
  readonly size: { readonly width: number; readonly height: number };
  readonly choices: readonly PictureChoice[];
  /** Resolves when the picture is saved, or could not be. */
  readonly onSave: (order: PictureOrder) => Promise<void>;
  /** Called by Esc. */
  readonly onClose: () => void;
}

/** Saves the visible field at the magnification of the screen or another one, as PNG or JPEG. */
export function ScreenshotPanel({ size, choices, onSave, onClose }: ScreenshotPanelProps) {
  const section = useRef<HTMLElement>(null);
  useEscape(section, onClose);
  const onScreen = { label: texts.onScreen, ratio: window.devicePixelRatio };
  const all = [onScreen, ...choices];
  const [chosen, setChosen] = useState(0);
  const [type, setType] = useState<PictureType>('image/png');
  const [running, setRunning] = useState<{ readonly end: AbortController; readonly part: number } | null>(
    null,
  );
  const choice = all[chosen] ?? onScreen;
  const width = Math.round(size.width * choice.ratio);
  const height = Math.round(size.height * choice.ratio);
  const isTooLarge = width * height > mostPixels;

  const save = async () => {
    const end = new AbortController();
    const onProgress = (part: number) => setRunning({ end, part });
    onProgress(0);
    await onSave({ ...choice, type, signal: end.signal, onProgress });
    setRunning(null);
  };

  return (
    <section ref={section} className={panel.panel} aria-label={texts.pictureOptions}>
      <NativeSelect
        size="sm"
        label={texts.pictureSize}
        data={all.map(({ label }, place) => ({ value: String(place), label }))}
        value={String(chosen)}
        onChange={(event) => setChosen(Number(event.currentTarget.value))}
        disabled={running !== null}
      />
      <Text size="sm" {...(isTooLarge && { c: 'red' })}>
        {texts.pixels(width, height)}
        {isTooLarge && ` (${texts.tooLarge})`}
      </Text>
      <SegmentedControl
        size="xs"
        aria-label={texts.pictureFormat}
        data={[
          { value: 'image/png', label: texts.formatPng },
          { value: 'image/jpeg', label: texts.formatJpeg },
        ]}
        value={type}
        onChange={(value) => setType(value === 'image/jpeg' ? 'image/jpeg' : 'image/png')}
        disabled={running !== null}
      />
      {running === null ? (
        <Button size="xs" disabled={isTooLarge} onClick={() => void save()}>
          {texts.savePicture}
        </Button>
      ) : (
        <>
          <Progress value={100 * running.part} aria-label={texts.savingPicture} />
          <Button size="xs" variant="default" onClick={() => running.end.abort()}>
            {texts.cancel}
          </Button>
        </>
      )}
    </section>
  );
}
