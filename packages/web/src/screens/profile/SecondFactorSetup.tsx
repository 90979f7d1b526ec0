import { zodResolver } from '@hookform/resolvers/zod';
import { Alert, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useForm } from 'react-hook-form';
import { encode } from 'uqr';
import { z } from 'zod';
import { finishSecondFactor, type SecondFactorSecret } from '../../api/second-factor.ts';
import { copyText } from '../../browser/copy-text.ts';
import { failWith } from '../../forms/validation.ts';
import { useStateAcrossLanguages } from '../../language/use-state-across-languages.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './SecondFactorSetup.module.css';
import { texts } from './texts.ts';

/** Inherits `secret` (in Base32, for typing) and `uri` (`otpauth://…`, for the QR code). */
interface SecondFactorSetupProps extends SecondFactorSecret {
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/**
 * Setup of two-step verification in two steps: the user pairs an authenticator app with the secret, and then saves the recovery codes,
 * which are shown only once.
 */
export function SecondFactorSetup({ secret, uri, onDone, onCancel }: SecondFactorSetupProps) {
  /** Null before the pairing. Kept when the user changes the language, because the server sends the codes only once. */
  const [recoveryCodes, setRecoveryCodes] = useStateAcrossLanguages<readonly string[] | null>(
    'recovery codes',
    null,
  );
  if (recoveryCodes !== null) return <RecoveryCodes codes={recoveryCodes} onDone={onDone} />;
  return <Pairing secret={secret} uri={uri} onPaired={setRecoveryCodes} onCancel={onCancel} />;
}

/** The first code of the authenticator app: 6 digits, in which the user may type spaces. */
const FirstCode = z.object({
  code: z
    .string()
    .transform((typed) => typed.replaceAll(/\s/g, ''))
    .pipe(
      z.string().regex(
        /^\d{6}$/,
        failWith(() => texts.codeFormat), // a function, because the language may change
      ),
    ),
});

interface PairingProps extends SecondFactorSecret {
  readonly onPaired: (recoveryCodes: readonly string[]) => void;
  readonly onCancel: () => void;
}

/** Shows the secret as a QR code and as text, and asks for a first code of the app, which proves that the pairing works. */
function Pairing({ secret, uri, onPaired, onCancel }: PairingProps) {
  const { register, handleSubmit, formState, setError } = useForm({
    resolver: zodResolver(FirstCode),
    defaultValues: { code: '' },
  });

  const submit = handleSubmit(async ({ code }) => {
    const result = await finishSecondFactor(code);
    if (result.success) {
      announce(result);
      onPaired(result.recoveryCodes);
    } else if (result.error === 'second_factor_invalid') {
      setError('code', { message: result.message }, { shouldFocus: true });
    } else announce(result);
  });

  return (
    <form onSubmit={(event) => void submit(event)} noValidate>
      <Stack>
        <Text>{texts.pairingHint}</Text>
        <QrCode text={uri} />
        <div>
          <Text size="sm" c="dimmed">
            {texts.secretHint}
          </Text>
          {/* Groups of four characters are easier to type: 'JBSWY3DP' becomes 'JBSW Y3DP'. */}
          <Code className={classes.secret}>{secret.replaceAll(/(.{4})(?!$)/g, '$1 ')}</Code>
        </div>
        <TextInput
          {...register('code')}
          label={texts.firstCode}
          inputMode="numeric"
          autoComplete="one-time-code"
          maw="16rem"
          error={formState.errors.code?.message}
        />
        <Group gap="sm">
          <Button type="submit" loading={formState.isSubmitting}>
            {texts.secondFactorConfirm}
          </Button>
          {/* Disabled while the code is checked: the response contains the recovery codes. */}
          <Button variant="default" onClick={onCancel} disabled={formState.isSubmitting}>
            {texts.cancel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

/** QR code of black squares, each 1 SVG unit wide. It stays black on white in the dark theme, because not all apps read inverted codes. */
function QrCode({ text }: { readonly text: string }) {
  // Level M corrects errors in 15 % of the code. The border is 4 light squares wide, as the QR standard requires.
  const { size, data: rows } = encode(text, { ecc: 'M', border: 4 });
  const darkSquares = rows.flatMap((row, y) =>
    row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])),
  );
  return (
    <svg
      className={classes.qrCode}
      viewBox={`0 0 ${size} ${size}`}
      role="img"
      aria-label={texts.qrCode}
      shapeRendering="crispEdges"
    >
      <path fill="#fff" d={`M0 0h${size}v${size}H0z`} />
      <path fill="#000" d={darkSquares.join('')} />
    </svg>
  );
}

interface RecoveryCodesProps {
  readonly codes: readonly string[];
  readonly onDone: () => void;
}

function RecoveryCodes({ codes, onDone }: RecoveryCodesProps) {
  const copy = async () => {
    const success = await copyText(codes.join('\n'));
    announce({ success, message: success ? texts.copied : texts.copyFailed }); // after a failure, the user can still write the codes down
  };

  return (
    <Stack>
      <Alert variant="outline" icon={<IconAlertCircle aria-hidden />} title={texts.recoveryCodes}>
        {texts.recoveryHint}
      </Alert>
      <ul className={classes.codes}>
        {codes.map((code) => (
          <li key={code}>
            <Code>{code}</Code>
          </li>
        ))}
      </ul>
      <Group gap="sm">
        <Button onClick={onDone}>{texts.recoveryDone}</Button>
        <Button variant="default" onClick={() => void copy()}>
          {texts.copy}
        </Button>
      </Group>
    </Stack>
  );
}
