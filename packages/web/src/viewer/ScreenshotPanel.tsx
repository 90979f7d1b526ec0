/** The panel of the toolbar that saves a picture of the visible field (the part of the slide in the viewer). */
import { Button, NativeSelect, Progress, SegmentedControl, Text } from '@mantine/core';
import { useRef, useState } from 'react';
import { useEscape } from '../browser/use-escape.ts';
import type { PictureType } from './screenshot.ts';
import toolPanel from './ToolPanel.module.css';
import { texts } from './texts.ts';

/**
 * Maximum number of pixels of a picture. Browsers limit the size of a canvas, and a PNG of tissue needs about two bytes
 * per pixel: 200 MB for the largest picture.
 */
const maxPixels = 100_000_000;

/** A magnification at which the user can save the visible field. */
export interface PictureChoice {
  /** Magnification, such as `20×`. */
  readonly label: string;
  /** Pixels of the picture per CSS pixel of the viewer. */
  readonly ratio: number;
}

export interface PictureRequest extends PictureChoice {
  readonly type: PictureType;
  readonly signal: AbortSignal;
  /** @param fraction of the picture that is done, 0 to 1 */
  readonly onProgress: (fraction: number) => void;
}

export interface ScreenshotPanelProps {
  /** Size of the viewer in CSS pixels. */
  readonly size: { readonly width: number; readonly height: number };
  /** Magnifications offered in addition to that of the screen. */
  readonly choices: readonly PictureChoice[];
  /** Saves a picture. The promise resolves when saving has succeeded, failed or been aborted. */
  readonly onSave: (request: PictureRequest) => Promise<void>;
  /** Called when Esc is pressed. */
  readonly onClose: () => void;
}

/** Saves the visible field as PNG or JPEG, at the magnification of the screen or at another magnification. */
export function ScreenshotPanel({ size, choices, onSave, onClose }: ScreenshotPanelProps) {
  const section = useRef<HTMLElement>(null);
  useEscape(section, onClose);
  const screenChoice = { label: texts.onScreen, ratio: window.devicePixelRatio };
  const allChoices = [screenChoice, ...choices];
  const [chosenIndex, setChosenIndex] = useState(0);
  const [type, setType] = useState<PictureType>('image/png');
  /** The running save, with its progress from 0 to 1; null while no picture is being saved. */
  const [runningSave, setRunningSave] = useState<{
    readonly abortController: AbortController;
    readonly fraction: number;
  } | null>(null);
  const choice = allChoices[chosenIndex] ?? screenChoice;
  const width = Math.round(size.width * choice.ratio);
  const height = Math.round(size.height * choice.ratio);
  const isTooLarge = width * height > maxPixels;

  const save = async () => {
    const abortController = new AbortController();
    const onProgress = (fraction: number) => setRunningSave({ abortController, fraction });
    onProgress(0);
    await onSave({ ...choice, type, signal: abortController.signal, onProgress });
    setRunningSave(null);
  };

  return (
    <section ref={section} className={toolPanel.panel} aria-label={texts.pictureOptions}>
      <NativeSelect
        size="sm"
        label={texts.pictureSize}
        data={allChoices.map(({ label }, index) => ({ value: String(index), label }))}
        value={String(chosenIndex)}
        onChange={(event) => setChosenIndex(Number(event.currentTarget.value))}
        disabled={runningSave !== null}
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
        disabled={runningSave !== null}
      />
      {runningSave === null ? (
        <Button size="xs" disabled={isTooLarge} onClick={() => void save()}>
          {texts.savePicture}
        </Button>
      ) : (
        <>
          <Progress value={100 * runningSave.fraction} aria-label={texts.savingPicture} />
          <Button size="xs" variant="default" onClick={() => runningSave.abortController.abort()}>
            {texts.cancel}
          </Button>
        </>
      )}
    </section>
  );
}
