import { Button, Checkbox, SegmentedControl, Slider, Text } from '@mantine/core';
import { useRef } from 'react';
import { useEscape } from '../../browser/use-escape.ts';
import { formatBytes } from '../../formatting/format-bytes.ts';
import toolPanel from '../ToolPanel.module.css';
import { texts } from '../texts.ts';
import { type AdjustedValue, isAsScanned, ranges } from './adjustment.ts';
import classes from './ColourPanel.module.css';
import type { SlideColours } from './use-colours.ts';
import type { WhiteBalance } from './use-white-balance.ts';

/** Step of the sliders: 5 % of the value as scanned, which is 1. */
const sliderStep = 0.05;

interface ColourPanelProps {
  readonly colours: SlideColours;
  readonly whiteBalance: WhiteBalance;
  /** Called when Esc is pressed. */
  readonly onClose: () => void;
}

/**
 * A panel that changes how the slide is displayed: the correction by its ICC profile, brightness, contrast, gamma, saturation and
 * white balance. The slide itself does not change.
 */
export function ColourPanel({ colours, whiteBalance, onClose }: ColourPanelProps) {
  const { adjustment, change, areKept, keep, reset } = colours;
  const section = useRef<HTMLElement>(null);
  useEscape(section, onClose);
  const names = Object.keys(ranges) as AdjustedValue[];
  return (
    <section ref={section} className={toolPanel.panel} aria-label={texts.colours}>
      <ProfileSwitch colours={colours} />
      {names.map((name) => {
        const [min, max] = ranges[name];
        const value = adjustment[name];
        return (
          <div key={name}>
            <div className={classes.head}>
              <Text size="sm">{texts.adjustments[name]}</Text>
              <Text size="sm" className={classes.value}>
                {texts.percent(value)}
              </Text>
            </div>
            <Slider
              min={min}
              max={max}
              step={sliderStep}
              value={value}
              onChange={(next) => change({ ...adjustment, [name]: Number(next.toFixed(2)) })} // without rounding errors
              label={null} // no bubble with the value above the thumb
              thumbLabel={texts.adjustments[name]}
              thumbProps={{ 'aria-valuetext': texts.percent(value) }}
              marks={[{ value: 1 }]} // as scanned
              size="sm"
            />
          </div>
        );
      })}
      <Button
        size="xs"
        variant={whiteBalance.isPicking ? 'filled' : 'default'}
        aria-pressed={whiteBalance.isPicking}
        onClick={() => whiteBalance.setPicking(!whiteBalance.isPicking)}
      >
        {texts.whiteBalance}
      </Button>
      {whiteBalance.isPicking && (
        <Text size="sm">{whiteBalance.isTooDark ? texts.whiteBalanceTooDark : texts.whiteBalanceHint}</Text>
      )}
      {adjustment.white !== null && (
        <Button size="xs" variant="default" onClick={() => change({ ...adjustment, white: null })}>
          {texts.resetWhiteBalance}
        </Button>
      )}
      <Checkbox
        size="sm"
        label={texts.keepColours}
        checked={areKept}
        onChange={(event) => keep(event.currentTarget.checked)}
      />
      <Button size="xs" variant="default" disabled={isAsScanned(adjustment)} onClick={reset}>
        {texts.asScanned}
      </Button>
    </section>
  );
}

/** Names the ICC profile of the slide's file, and switches the correction of colours by this profile on and off. */
function ProfileSwitch({
  colours: { profile, isCorrected, missingTable, setCorrected },
}: Pick<ColourPanelProps, 'colours'>) {
  if (profile === null) return <Text size="sm">{texts.noProfile}</Text>;
  if (profile.tableSize === null) return <Text size="sm">{texts.profileIgnored}</Text>;
  return (
    <>
      <SegmentedControl
        size="xs"
        aria-label={texts.scannerColours}
        data={[
          { value: 'corrected', label: texts.corrected },
          { value: 'scanned', label: texts.scanned },
        ]}
        value={isCorrected ? 'corrected' : 'scanned'}
        onChange={(value) => setCorrected(value === 'corrected')}
      />
      {missingTable === 'failed' && <Text size="sm">{texts.coloursNotCorrected}</Text>}
      <Text size="sm">{texts.profile(profile.name, formatBytes(profile.bytes))}</Text>
    </>
  );
}
