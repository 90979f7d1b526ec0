import { Button, Slider, Text } from '@mantine/core';
import { texts } from '../texts.ts';
import { asScanned, type ColourAdjustment, isAsScanned, ranges } from './adjustment.ts';
import classes from './ColourPanel.module.css';

const step = 0.05;

interface ColourPanelProps {
  readonly adjustment: ColourAdjustment;
  readonly onChange: (adjustment: ColourAdjustment) => void;
}

/** Brightness, contrast, gamma and saturation: for the eye alone. */
export function ColourPanel({ adjustment, onChange }: ColourPanelProps) {
  const names = Object.keys(ranges) as (keyof ColourAdjustment)[];
  return (
    <section className={classes.panel} aria-label={texts.colours}>
      {names.map((name) => {
        const [least, most] = ranges[name];
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
              min={least}
              max={most}
              step={step}
              value={value}
              onChange={(next) => onChange({ ...adjustment, [name]: Number(next.toFixed(2)) })}
              label={null}
              thumbLabel={texts.adjustments[name]}
              thumbProps={{ 'aria-valuetext': texts.percent(value) }}
              marks={[{ value: 1 }]}
              size="sm"
            />
          </div>
        );
      })}
      <Button
        size="xs"
        variant="default"
        disabled={isAsScanned(adjustment)}
        onClick={() => onChange(asScanned)}
      >
        {texts.asScanned}
      </Button>
    </section>
  );
}
